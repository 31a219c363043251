package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/scope"
)

func newRepo(e *Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repo",
		Short: "Work with a hierarchical repository of policy",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRepoInit(e), newRepoVet(e), newRepoHydrate(e), newRepoDiff(e))
	return cmd
}

// defaultCluster is the name that a repository is compiled for besides those of the clusters that it names.
const defaultCluster = "defaultcluster"

// repoFlags are the flags of the commands that compile a repository.
type repoFlags struct {
	path             string
	sourceFormat     string
	clusters         []string
	allowSharedNames bool
	threshold        int
	kinds            kindFlags
}

func (f *repoFlags) add(e *Environment, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.path, "path", ".", "The root of the repository")
	flags.StringVar(&f.sourceFormat, "source-format", "hierarchy", "The format of the repository; hierarchy is the only one")
	flags.StringSliceVar(&f.clusters, "clusters", nil, "Only for these clusters, of those that the repository names and "+defaultCluster)
	flags.BoolVar(&f.allowSharedNames, "allow-shared-names", false, "Do not warn about abstract directories with the name of a namespace")
	flags.IntVar(&f.threshold, "threshold", 0, "Fail if a cluster has more objects than this; 0 means no limit")
	flags.Lookup("threshold").NoOptDefVal = "1000"
	f.kinds.add(flags)
	_ = cmd.MarkFlagDirname("path")
	e.completeFlag(cmd, "source-format", func(*cobra.Command, string) []string { return []string{"hierarchy"} })
	e.completeFlag(cmd, "clusters", func(*cobra.Command, string) []string { return f.namedClusters() })
}

// namedClusters returns the clusters that can be chosen, as far as the repository can be read.
func (f *repoFlags) namedClusters() []string {
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	objects, _ := load.Load(root.FS(), load.DefaultLimits)
	return clustersOf(repository.Clusters(objects))
}

func clustersOf(named []string) []string {
	return append([]string{defaultCluster}, slices.DeleteFunc(named, func(name string) bool { return name == defaultCluster })...)
}

// compiledCluster is what a repository holds for a cluster.
type compiledCluster struct {
	name   string
	result *repository.Result
}

// compiled is what a repository holds. With errors of the loader it holds no clusters.
type compiled struct {
	loading  report.Errors
	clusters []compiledCluster
}

// failed returns whether the repository has errors.
func (c *compiled) failed() bool {
	return len(c.loading) > 0 || slices.ContainsFunc(c.clusters, func(cluster compiledCluster) bool { return len(cluster.result.Errors) > 0 })
}

// loaded is what is read of a repository.
type loaded struct {
	objects []*object.Object
	errors  report.Errors
	scopes  scope.Lookup
}

// compile loads the repository and compiles it for each cluster.
func (f *repoFlags) compile(ctx context.Context, e *Environment) (*compiled, error) {
	l, err := f.load(ctx, e)
	if err != nil {
		return nil, err
	}
	clusters, err := f.choose(clustersOf(repository.Clusters(l.objects)))
	if err != nil && len(l.errors) == 0 {
		return nil, err
	}
	return f.compileFor(ctx, e, l, clusters, nil)
}

// load reads the repository, and the kinds that it is checked with. Symbolic links cannot lead out of it.
func (f *repoFlags) load(ctx context.Context, e *Environment) (*loaded, error) {
	if f.sourceFormat != "hierarchy" {
		return nil, usage("--source-format=%s: only hierarchy is supported", f.sourceFormat)
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	line := e.progress()
	defer line.end()
	line.show("reading %s ...", f.path)
	l := &loaded{}
	l.objects, l.errors = load.Load(root.FS(), load.DefaultLimits)
	if len(l.errors) > 0 {
		return l, nil
	}
	if !f.kinds.offline {
		line.show("asking the API server for its kinds ...")
	}
	var problem *report.Error
	if l.scopes, problem, err = f.kinds.lookup(ctx, e, root.FS()); problem != nil {
		l.errors = report.Errors{problem}
	}
	return l, err
}

// compileFor compiles what is loaded for each of the clusters. The revision before defined the previous kinds.
func (f *repoFlags) compileFor(ctx context.Context, e *Environment, l *loaded, clusters []string, previous []schema.GroupKind) (*compiled, error) {
	if len(l.errors) > 0 {
		return &compiled{loading: l.errors.Sorted()}, nil
	}
	line := e.progress()
	defer line.end()
	all := &compiled{}
	for i, name := range clusters {
		line.show("compiling for %s (%d of %d) ...", name, i+1, len(clusters))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all.clusters = append(all.clusters, compiledCluster{name, repository.Compile(l.objects, repository.Options{
			Cluster: name, Scopes: l.scopes, AssumeScopes: f.kinds.offline, PreviousKinds: previous, MaxObjects: f.threshold,
			Excluded: hnc.ExcludedNamespaces, AllowSharedNames: f.allowSharedNames,
		})})
	}
	return all, nil
}

// choose returns the clusters of --clusters, or all.
func (f *repoFlags) choose(known []string) ([]string, error) {
	if len(f.clusters) == 0 {
		return known, nil
	}
	for _, name := range f.clusters {
		if !slices.Contains(known, name) {
			return nil, usage("--clusters: the repository names no cluster %q, but %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(known, func(name string) bool { return !slices.Contains(f.clusters, name) }), nil
}
