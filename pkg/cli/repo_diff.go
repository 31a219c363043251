package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// comparison is what the flags of diff say.
type comparison struct {
	repoFlags
	against           string
	allowMassDeletion bool
}

func newRepoDiff(e *Environment) *cobra.Command {
	var (
		d   comparison
		out output
	)
	cmd := &cobra.Command{
		Use:   "diff --against DIRECTORY",
		Short: "Show what a revision of a repository changes",
		Long: `Show what the repository changes in each cluster, compared with another revision of it in a directory: objects and namespaces that are added (+),
removed (-), changed (~) or moved (>). The exit code is 1 if a revision has errors, or if the repository must not follow the other one
because too many namespaces would be removed.`,
		Example: `  git worktree add /tmp/main main && kubectl hns repo diff --against /tmp/main
  kubectl hns repo diff --against /tmp/main --clusters prod-1 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if d.against == "" {
				return usage("say by --against which directory holds the other revision")
			}
			if err := out.check(); err != nil {
				return err
			}
			return e.diffRevisions(cmd.Context(), &d, &out)
		},
	}
	d.add(e, cmd)
	cmd.Flags().StringVar(&d.against, "against", "", "The root of the revision to compare with")
	cmd.Flags().BoolVar(&d.allowMassDeletion, "allow-mass-deletion", false, "Do not fail if more than half of the namespaces are removed")
	_ = cmd.MarkFlagDirname("against")
	out.addFormats(e, cmd, "json", "yaml")
	return cmd
}

// clusterChanges is what -o prints for a cluster.
type clusterChanges struct {
	Name string `json:"name"`
	*changes.Changes
	Errors report.Errors `json:"errors,omitempty"`
}

func (e *Environment) diffRevisions(ctx context.Context, d *comparison, out *output) error {
	earlier := d.repoFlags
	earlier.path = d.against
	before, after, err := e.compileBoth(ctx, &earlier, &d.repoFlags)
	if err != nil {
		return err
	}
	all := []clusterChanges{}
	failed := false
	for i, cluster := range after.clusters {
		was := before.clusters[i].result
		one := clusterChanges{cluster.name, changes.Between(was, cluster.result), changes.Unsafe(was, cluster.result, d.allowMassDeletion)}
		failed = failed || len(one.Errors) > 0
		all = append(all, one)
	}
	printed, err := out.print(e, map[string]any{"clusters": all}, nil)
	if err != nil {
		return err
	}
	for i := range all {
		if printed {
			break
		}
		if text := all[i].Text(); text != "" {
			if len(all) > 1 {
				text = fmt.Sprintf("Cluster %s:\n%s", report.Printable(all[i].Name), text)
			}
			if _, err := fmt.Fprint(e.Out, text); err != nil {
				return err
			}
		}
		e.printErrors(all[i].Name, all[i].Errors)
	}
	if failed {
		return errSilent
	}
	return nil
}

// compileBoth compiles two revisions for the clusters that either of them names. It reports their errors.
func (e *Environment) compileBoth(ctx context.Context, earlier, later *repoFlags) (before, after *compiled, err error) {
	old, err := earlier.load(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	current, err := later.load(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	names := slices.Concat(repository.Clusters(old.objects), repository.Clusters(current.objects))
	slices.Sort(names)
	clusters, err := later.choose(clustersOf(slices.Compact(names)))
	if err != nil {
		return nil, nil, err
	}
	if before, err = earlier.compileFor(ctx, e, old, clusters, nil); err != nil {
		return nil, nil, err
	}
	if after, err = later.compileFor(ctx, e, current, clusters, repository.DefinedKinds(old.objects)); err != nil {
		return nil, nil, err
	}
	for _, revision := range []struct {
		path string
		*compiled
	}{{earlier.path, before}, {later.path, after}} {
		if revision.failed() {
			_, _ = fmt.Fprintf(e.ErrOut, "The repository in %s has errors:\n", revision.path)
			e.reportCompiled(revision.compiled)
			return nil, nil, errSilent
		}
	}
	return before, after, nil
}
