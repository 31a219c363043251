// Command dashboard prints the queries of the Grafana dashboard as a file of rules, which promtool checks. Run it from
// the repository's root.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

const file = "artifacts/monitoring/dashboard.json"

// dashboard is the part of a dashboard that is used.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

func main() {
	rules, err := run(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Print(rules)
}

// run returns the queries as recording rules.
func run(file string) (string, error) {
	queries, err := read(file)
	if err != nil {
		return "", err
	}
	var rules []map[string]string
	for i, query := range queries {
		rules = append(rules, map[string]string{"record": fmt.Sprintf("dashboard:query:%d", i), "expr": query})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	return string(text), err
}

// read returns the queries, with a fixed value of the variable that Grafana sets.
func read(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var d dashboard
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var queries []string
	for _, panel := range d.Panels {
		if len(panel.Targets) == 0 {
			return nil, fmt.Errorf("%s: panel %q has no query", file, panel.Title)
		}
		for _, target := range panel.Targets {
			queries = append(queries, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
		}
	}
	return queries, nil
}
