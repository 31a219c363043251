package repo

import (
	"fmt"
	"io"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// printCompiled prints errors and warnings on standard error. Those that several clusters share are printed for the
// first of them.
func printCompiled(errOut io.Writer, all *compiled) {
	printErrors(errOut, "", all.loading)
	seen := map[string]bool{}
	for _, cluster := range all.clusters {
		var errors report.Errors
		for _, err := range cluster.result.Errors {
			if !seen[err.Error()] {
				errors = append(errors, err)
			}
			seen[err.Error()] = true
		}
		printErrors(errOut, cluster.name, errors)
		for _, warning := range cluster.result.Warnings {
			if !seen[warning.Error()] {
				cli.Warnf(errOut, "%s: %s (%s)", warning.Code, warning.Message, strings.Join(positions(warning), ", "))
			}
			seen[warning.Error()] = true
		}
	}
}

func printErrors(errOut io.Writer, cluster string, errors report.Errors) {
	if len(errors) == 0 {
		return
	}
	if cluster != "" && cluster != defaultCluster {
		_, _ = fmt.Fprintf(errOut, "errors for cluster %q:\n", cluster)
	}
	text := errors.Error()
	if cli.AllowsColor(errOut) {
		red := cli.Ansi("31;1")
		for _, err := range errors {
			code := string(err.Code)
			text = strings.ReplaceAll(text, "] "+code+":", "] "+red(code)+":")
		}
	}
	_, _ = fmt.Fprint(errOut, text)
}

func positions(err *report.Error) []string {
	all := append([]string{}, err.Paths...)
	for _, s := range err.Sources {
		all = append(all, report.Position(s.Path, s.Line))
	}
	return all
}
