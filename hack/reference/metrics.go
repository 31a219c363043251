package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// metric is one that a server registers.
type metric struct{ server, name, kind, labels, help string }

// metrics writes the page of metrics and alerts: the options that the code registers, and the rules of Prometheus.
func metrics() (string, error) {
	all, err := registeredMetrics("pkg")
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("# Metrics and alerts\n\n[Monitor](../metrics.md) says how to scrape them. Besides these, `hns-apiserver` serves the metrics of every API server, " +
		"and the others those of Kubernetes' client, of leader election and of the process.\n")
	legacy := func(m metric) bool { return strings.HasPrefix(m.name, "hnc_reconcilers_") }
	for _, server := range []string{hnc.APIServerName, hnc.PropagatorName, hnc.SyncName, hnc.GatewayName} {
		fmt.Fprintf(&page, "\n## %s\n\n", server)
		page.WriteString(metricTable(all, func(m metric) bool { return m.server == server && !legacy(m) }))
	}
	page.WriteString("\n## HNC's metrics\n\n`hns-propagator` serves them for dashboards of HNC. All are gauges, as with HNC. " +
		"`GroupKind` is empty unless it runs with `--suppress-object-tags=false`.\n\n")
	page.WriteString(metricTable(all, legacy))
	page.WriteString("\n## Alerts\n\nThose of `artifacts/monitoring/rules.yaml`.\n\n")
	alerts, err := alertTable("artifacts/monitoring/rules.yaml")
	return page.String() + alerts, err
}

func metricTable(all []metric, show func(metric) bool) string {
	var table strings.Builder
	table.WriteString("| Metric | Type | Labels | Meaning |\n| --- | --- | --- | --- |\n")
	for _, m := range all {
		if show(m) {
			fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", m.name, m.kind, m.labels, cell(m.help))
		}
	}
	return table.String()
}

// registeredMetrics returns the metrics whose options are literals in the packages below a folder, by name.
func registeredMetrics(root string) ([]metric, error) {
	var all []metric
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		all = append(all, metricsIn(file, serverOf(path))...)
		return nil
	})
	slices.SortFunc(all, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	return all, err
}

func serverOf(path string) string {
	switch {
	case strings.HasPrefix(path, "pkg/propagator/"):
		return hnc.PropagatorName
	case strings.HasPrefix(path, "pkg/reposync/"):
		return hnc.SyncName
	case strings.HasPrefix(path, "pkg/view/"):
		return hnc.GatewayName
	}
	return hnc.APIServerName
}

// metricsIn returns the metrics of a file: calls such as metrics.NewGaugeVec(&metrics.GaugeOpts{…}, labels), and those
// whose options come from LegacyGauge(name, help).
func metricsIn(file *ast.File, server string) []metric {
	var all []metric
	lists := map[string][]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		if assign, ok := node.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 && len(assign.Rhs) == 1 {
			if name, ok := assign.Lhs[0].(*ast.Ident); ok {
				lists[name.Name] = stringsOf(assign.Rhs[0])
			}
		}
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		m := metric{server: server}
		switch options := call.Args[0].(type) {
		case *ast.UnaryExpr:
			literal, ok := options.X.(*ast.CompositeLit)
			if !ok {
				return true
			}
			kind, ok := strings.CutSuffix(nameOf(literal.Type), "Opts")
			if !ok {
				return true
			}
			fields := fieldsOf(literal)
			m.kind, m.help, m.name = strings.ToLower(kind), fields["Help"], fields["Name"]
			for _, prefix := range []string{fields["Subsystem"], fields["Namespace"]} {
				if prefix != "" {
					m.name = prefix + "_" + m.name
				}
			}
		case *ast.CallExpr:
			if nameOf(options.Fun) != "LegacyGauge" || len(options.Args) != 2 {
				return true
			}
			m.kind, m.name, m.help = "gauge", "hnc_"+stringOf(options.Args[0]), stringOf(options.Args[1])
		default:
			return true
		}
		if len(call.Args) > 1 {
			labels := stringsOf(call.Args[1])
			if list, ok := call.Args[1].(*ast.Ident); ok {
				labels = lists[list.Name]
			}
			for i := range labels {
				labels[i] = code(strings.Trim(labels[i], "`"))
			}
			m.labels = strings.Join(labels, ", ")
		}
		all = append(all, m)
		return true
	})
	return all
}

func nameOf(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// fieldsOf returns the fields of a literal that are strings.
func fieldsOf(literal *ast.CompositeLit) map[string]string {
	fields := map[string]string{}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			fields[nameOf(pair.Key)] = stringOf(pair.Value)
		}
	}
	return fields
}

func stringOf(expression ast.Expr) string {
	if literal, ok := expression.(*ast.BasicLit); ok && literal.Kind == token.STRING {
		text, _ := strconv.Unquote(literal.Value)
		return text
	}
	if sum, ok := expression.(*ast.BinaryExpr); ok {
		return stringOf(sum.X) + stringOf(sum.Y)
	}
	return ""
}

func stringsOf(expression ast.Expr) []string {
	literal, ok := expression.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	var all []string
	for _, element := range literal.Elts {
		all = append(all, stringOf(element))
	}
	return all
}

var (
	labelTemplate = regexp.MustCompile(`{{ \$labels\.(\w+) }}`)
	valueTemplate = regexp.MustCompile(`{{ \$value[^}]*}}`)
)

// withoutTemplates returns the text of an alert with its templates as what they stand for.
func withoutTemplates(text string) string {
	return valueTemplate.ReplaceAllString(labelTemplate.ReplaceAllString(text, "`$1`"), "…")
}

// alertTable returns the alerts of a file of rules, in its order.
func alertTable(file string) (string, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, For          string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(source, &rules); err != nil {
		return "", err
	}
	var table strings.Builder
	table.WriteString("| Alert | Severity | After | Meaning |\n| --- | --- | --- | --- |\n")
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" {
				fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", rule.Alert, rule.Labels["severity"], rule.For, cell(withoutTemplates(rule.Annotations["summary"]+" "+rule.Annotations["description"])))
			}
		}
	}
	return table.String(), nil
}
