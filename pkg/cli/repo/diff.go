package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

type repoDiffOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory

	repo    repoFlags
	against string
	target  targetFlags
	output  cli.OutputFlag
	// exitCode has differences end the command with ErrFound.
	exitCode bool
}

func newRepoDiffCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoDiffOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "diff [--against DIRECTORY]",
		Short: "Show what a revision of a repository changes",
		Long: `Show what applying the repository would change in the cluster of the kubeconfig, without changing it: objects and namespaces that are added (+),
removed (-) or changed (~), with the fields. Only objects are removed that the RepositorySync of --name, or an earlier apply of that name, has written.

With --against, show what the repository changes in each of its clusters, compared with another revision of it in a directory, without contacting them;
namespaces may then also be moved (>).

The exit code is 1 if a revision has errors, or if the repository must not be applied because too many namespaces would be removed. With --exit-code,
it is 2 if there are differences.`,
		Example: `  kubectl hns repo diff --name policy
  git worktree add /tmp/main main && kubectl hns repo diff --against /tmp/main
  kubectl hns repo diff --against /tmp/main --clusters prod-1 -o json`,
		Args: cobra.NoArgs,
		RunE: cli.RunOptions(o),
	}
	o.repo.add(cmd)
	o.target.add(cmd, f)
	cmd.Flags().StringVar(&o.against, "against", "", "The root of the revision to compare with, instead of the cluster")
	_ = cmd.MarkFlagDirname("against")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "Exit with 2 if there are differences")
	o.output.AddFormats(cmd, "json", "yaml")
	return cmd
}

func (o *repoDiffOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *repoDiffOptions) Validate() error {
	if o.against == "" {
		if err := o.target.validate(&o.repo); err != nil {
			return err
		}
	}
	return o.output.Validate()
}

// clusterChanges is the output of -o for a cluster.
type clusterChanges struct {
	Name string `json:"name,omitempty"`
	*changes.Changes
	Errors report.Errors `json:"errors,omitempty"`
}

func (o *repoDiffOptions) Run(ctx context.Context) error {
	if o.against == "" {
		return o.runLive(ctx)
	}
	before, after, err := o.compileBoth(ctx)
	if err != nil {
		return err
	}
	all := []clusterChanges{}
	failed, differ := false, false
	for i, cluster := range after.clusters {
		was := before.clusters[i].result
		one := clusterChanges{cluster.name, changes.Between(was, cluster.result), changes.Unsafe(was, cluster.result, o.target.allowMass)}
		failed, differ = failed || len(one.Errors) > 0, differ || one.Text() != ""
		all = append(all, one)
	}
	printed, err := o.output.Print(o.Out, map[string]any{"clusters": all}, nil)
	if !printed {
		err = o.printChanges(all)
	}
	return o.result(err, failed, differ)
}

// result is the error of the command, when it has printed what it has found.
func (o *repoDiffOptions) result(err error, failed, differ bool) error {
	switch {
	case err == nil && failed:
		return cli.ErrReported
	case err == nil && differ && o.exitCode:
		return cli.ErrFound
	}
	return err
}

func (o *repoDiffOptions) printChanges(all []clusterChanges) error {
	for i := range all {
		if text := all[i].Text(); text != "" {
			if len(all) > 1 {
				text = fmt.Sprintf("Cluster %s:\n%s", names.Printable(all[i].Name), text)
			}
			if _, err := fmt.Fprint(o.Out, text); err != nil {
				return err
			}
		}
		printErrors(o.ErrOut, all[i].Name, all[i].Errors)
	}
	return nil
}

// compileBoth compiles two revisions for the clusters that either of them lists, and prints their errors.
func (o *repoDiffOptions) compileBoth(ctx context.Context) (before, after *compiled, err error) {
	earlier, later := o.repo, &o.repo
	earlier.path = o.against
	old, err := earlier.load(ctx, o.factory, o.ErrOut)
	if err != nil {
		return nil, nil, err
	}
	current, err := later.load(ctx, o.factory, o.ErrOut)
	if err != nil {
		return nil, nil, err
	}
	names := slices.Concat(repository.Clusters(old.objects), repository.Clusters(current.objects))
	slices.Sort(names)
	clusters, err := later.selectClusters(withDefaultCluster(slices.Compact(names)))
	if err != nil {
		return nil, nil, err
	}
	if before, err = earlier.compileFor(ctx, o.ErrOut, old, clusters, nil); err != nil {
		return nil, nil, err
	}
	if after, err = later.compileFor(ctx, o.ErrOut, current, clusters, repository.DefinedKinds(old.objects)); err != nil {
		return nil, nil, err
	}
	for _, revision := range []struct {
		path string
		*compiled
	}{{earlier.path, before}, {later.path, after}} {
		if revision.failed() {
			_, _ = fmt.Fprintf(o.ErrOut, "The repository in %s has errors:\n", revision.path)
			printCompiled(o.ErrOut, revision.compiled)
			return nil, nil, cli.ErrReported
		}
	}
	return before, after, nil
}
