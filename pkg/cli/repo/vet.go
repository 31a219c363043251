package repo

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

type repoVetOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory

	repo   repoFlags
	output cli.OutputFlag
}

func newRepoVetCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoVetOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "vet",
		Short: "Check a repository",
		Long: `Check a repository for each cluster that it lists. Errors are printed on standard error, each with its code, and the exit code is 1.

Whether a kind is namespaced is known from Kubernetes itself, from CustomResourceDefinitions in the repository, from the file api-resources.txt
at its root (the output of "kubectl api-resources") and from the API server.`,
		Example: `  kubectl hns repo vet
  kubectl hns repo vet --path policy --no-api-server-check
  kubectl hns repo vet --clusters prod-1,prod-2
  kubectl hns repo vet -o json`,
		Args: cobra.NoArgs,
		RunE: cli.RunOptions(o),
	}
	o.repo.add(cmd)
	o.output.AddFormats(cmd, "json", "yaml")
	return cmd
}

func (o *repoVetOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *repoVetOptions) Validate() error { return o.output.Validate() }

func (o *repoVetOptions) Run(ctx context.Context) error {
	all, err := o.repo.compile(ctx, o.factory, o.ErrOut)
	if err != nil {
		return err
	}
	printed, err := o.output.Print(o.Out, all.report(), nil)
	if err != nil {
		return err
	}
	if !printed {
		printCompiled(o.ErrOut, all)
	}
	if all.failed() {
		return cli.ErrReported
	}
	if !printed {
		_, err = fmt.Fprintln(o.Out, "No validation issues found.")
	}
	return err
}

// repoReport is the output of -o.
type repoReport struct {
	// Errors are those of loading; with them there are no clusters.
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
	// AbstractAncestors are the abstract directories above, the nearest first.
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
