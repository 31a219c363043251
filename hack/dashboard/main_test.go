package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Metrics of the dashboard and of the alerts exist: docs/reference/metrics.md, which is generated from the code, lists
// them.
func TestMetricsAreDocumented(t *testing.T) {
	documented, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	queries, err := read("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../../artifacts/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`\bhn[cs]_\w+`)
	names := metric.FindAllString(strings.Join(queries, "\n")+string(rules), -1)
	if len(names) < 20 {
		t.Fatalf("%d metrics found", len(names))
	}
	for _, name := range names {
		if !strings.Contains(string(documented), "`"+strings.TrimSuffix(name, "_bucket")+"`") {
			t.Errorf("docs/reference/metrics.md does not list %s", name)
		}
	}
}
