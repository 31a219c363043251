package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

func newRepoVet(e *Environment) *cobra.Command {
	var (
		f   repoFlags
		out output
	)
	cmd := &cobra.Command{
		Use:   "vet",
		Short: "Check a repository",
		Long: `Check a repository for each cluster that it names. Errors are printed on standard error, each with its code, and end with exit code 1.

Kinds are known to be in namespaces or not by Kubernetes itself, by CustomResourceDefinitions in the repository, by the file api-resources.txt
at its root (the output of "kubectl api-resources") and by the API server.`,
		Example: `  kubectl hns repo vet
  kubectl hns repo vet --path policy --no-api-server-check
  kubectl hns repo vet --clusters prod-1,prod-2
  kubectl hns repo vet -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return e.vet(cmd.Context(), &f, &out)
		},
	}
	f.add(e, cmd)
	out.addFormats(e, cmd, "json", "yaml")
	return cmd
}

func (e *Environment) vet(ctx context.Context, f *repoFlags, out *output) error {
	all, err := f.compile(ctx, e)
	if err != nil {
		return err
	}
	printed, err := out.print(e, all.report(), nil)
	if err != nil {
		return err
	}
	if !printed {
		e.reportCompiled(all)
	}
	if all.failed() {
		return errSilent
	}
	if !printed {
		_, err = fmt.Fprintln(e.Out, "No validation issues found.")
	}
	return err
}

// reportCompiled prints errors and warnings on standard error. What several clusters have in common is printed for the first of them.
func (e *Environment) reportCompiled(all *compiled) {
	e.printErrors("", all.loading)
	seen := map[string]bool{}
	for _, cluster := range all.clusters {
		var errors report.Errors
		for _, err := range cluster.result.Errors {
			if !seen[err.Error()] {
				errors = append(errors, err)
			}
			seen[err.Error()] = true
		}
		e.printErrors(cluster.name, errors)
		for _, warning := range cluster.result.Warnings {
			if !seen[warning.Error()] {
				e.warn("%s: %s", warning.Code, report.Printable(fmt.Sprintf("%s (%s)", warning.Message, strings.Join(positions(warning), ", "))))
			}
			seen[warning.Error()] = true
		}
	}
}

func (e *Environment) printErrors(cluster string, errors report.Errors) {
	if len(errors) == 0 {
		return
	}
	if cluster != "" && cluster != defaultCluster {
		_, _ = fmt.Fprintf(e.ErrOut, "errors for cluster %q:\n", cluster)
	}
	text := errors.Error()
	if e.colours(e.ErrOut) {
		red := ansi("31;1")
		for _, err := range errors {
			code := string(err.Code)
			text = strings.ReplaceAll(text, "] "+code+":", "] "+red(code)+":")
		}
	}
	_, _ = fmt.Fprint(e.ErrOut, text)
}

func positions(err *report.Error) []string {
	all := append([]string{}, err.Paths...)
	for _, s := range err.Sources {
		all = append(all, report.Position(s.Path, s.Line))
	}
	return all
}

// repoReport is what -o prints.
type repoReport struct {
	// Errors are those of reading; with them there are no clusters.
	Errors   report.Errors   `json:"errors,omitempty"`
	Clusters []clusterReport `json:"clusters"`
}

type clusterReport struct {
	Name       string            `json:"name"`
	Namespaces []namespaceReport `json:"namespaces"`
	Objects    int               `json:"objects"`
	Errors     report.Errors     `json:"errors,omitempty"`
	Warnings   report.Errors     `json:"warnings,omitempty"`
}

type namespaceReport struct {
	Name string `json:"name"`
	// AbstractAncestors are the directories above, nearest first.
	AbstractAncestors []string `json:"abstractAncestors,omitempty"`
}

func (c *compiled) report() repoReport {
	all := repoReport{Errors: c.loading, Clusters: []clusterReport{}}
	for _, cluster := range c.clusters {
		one := clusterReport{
			Name: cluster.name, Namespaces: []namespaceReport{}, Objects: len(cluster.result.Objects),
			Errors: cluster.result.Errors, Warnings: cluster.result.Warnings,
		}
		for _, n := range cluster.result.Namespaces {
			one.Namespaces = append(one.Namespaces, namespaceReport{n.Name, n.AbstractAncestors})
		}
		all.Clusters = append(all.Clusters, one)
	}
	return all
}
