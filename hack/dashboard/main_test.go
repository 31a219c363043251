package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	metric = regexp.MustCompile(`\bhn[cs]_\w+`)
	// selected are those that pods of tenants may serve, too.
	selected = regexp.MustCompile(`\b(hn[cs]_\w+|apiserver_(resource_objects|request_total)|aggregator_\w+)`)
)

// expressions returns those of the dashboard and of the alerts.
func expressions(t *testing.T) []string {
	t.Helper()
	all, err := read("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../artifacts/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			all = append(all, rule.Expr)
		}
	}
	return all
}

// Pods of tenants may serve metrics of the same names. Those of kube-apiserver, whose labels depend on how it is scraped, are compared before series
// are aggregated.
func TestMetricsAreThoseOfTheServers(t *testing.T) {
	for _, expression := range expressions(t) {
		for _, at := range selected.FindAllStringIndex(expression, -1) {
			name, want := expression[at[0]:at[1]], `{namespace="hns-system"`
			if name == "aggregator_unavailable_apiservice" {
				want = `{name=~".*hnc[.]x-k8s[.]io"} == 1)`
			}
			if !strings.HasPrefix(expression[at[1]:], want) {
				t.Errorf("%s selects %s of any namespace", expression, name)
			}
		}
	}
}

// Metrics of the dashboard and of the alerts exist: docs/reference/metrics.md, which is generated from the code, lists
// them.
func TestMetricsAreDocumented(t *testing.T) {
	documented, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	names := metric.FindAllString(strings.Join(expressions(t), "\n"), -1)
	if len(names) < 20 {
		t.Fatalf("%d metrics found", len(names))
	}
	for _, name := range names {
		if !strings.Contains(string(documented), "`"+strings.TrimSuffix(name, "_bucket")+"`") {
			t.Errorf("docs/reference/metrics.md does not list %s", name)
		}
	}
}
