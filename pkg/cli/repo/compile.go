package repo

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// defaultCluster is the cluster that a repository is compiled for in addition to those that it lists.
const defaultCluster = "defaultcluster"

// maxClusters is how many clusters a repository is compiled for if --clusters selects none. An object can name any number.
const maxClusters = 1000

// maxCompiled is how many objects of all clusters together are kept, about 1 KiB each.
const maxCompiled = 2_000_000

// repoFlags are the flags of the commands that compile a repository.
type repoFlags struct {
	path             string
	sourceFormat     string
	clusters         []string
	allowSharedNames bool
	threshold        int
	kinds            kindFlags
}

func (r *repoFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.path, "path", ".", "The root of the repository")
	flags.StringVar(&r.sourceFormat, "source-format", "hierarchy", "The format of the repository; hierarchy is the only one")
	flags.StringSliceVar(&r.clusters, "clusters", nil, "Compile only for these of the clusters that the repository lists and "+defaultCluster)
	flags.BoolVar(&r.allowSharedNames, "allow-shared-names", false, "Do not warn about abstract directories that have the name of a namespace")
	flags.IntVar(&r.threshold, "threshold", 0, "Fail if a cluster has more objects than this; 0 means no limit")
	flags.Lookup("threshold").NoOptDefVal = "1000"
	r.kinds.add(flags)
	_ = cmd.MarkFlagDirname("path")
	_ = flags.MarkHidden("source-format") // Scripts of nomos give it.
	cli.CompleteFlag(cmd, "clusters", func(*cobra.Command, string) []string { return r.knownClusters() })
}

// knownClusters returns the clusters to select from, as far as the repository can be read.
func (r *repoFlags) knownClusters() []string {
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	objects, _ := load.Load(root.FS(), load.DefaultLimits)
	return withDefaultCluster(repository.Clusters(objects))
}

func withDefaultCluster(listed []string) []string {
	return append([]string{defaultCluster}, slices.DeleteFunc(listed, func(name string) bool { return name == defaultCluster })...)
}

// compiledCluster is a repository compiled for a cluster.
type compiledCluster struct {
	name   string
	result *repository.Result
}

// compiled is a compiled repository. If loading returns errors, it has no clusters.
type compiled struct {
	loading  report.Errors
	clusters []compiledCluster
	// objects is the number of objects of all clusters.
	objects int
}

func (c *compiled) add(name string, result *repository.Result) error {
	if c.objects += len(result.Objects); c.objects > maxCompiled {
		return cli.UsageErrorf("the clusters have more than %d objects together; select fewer of them with --clusters", maxCompiled)
	}
	c.clusters = append(c.clusters, compiledCluster{name, result})
	return nil
}

// failed reports whether the repository has errors.
func (c *compiled) failed() bool {
	return len(c.loading) > 0 || slices.ContainsFunc(c.clusters, func(cluster compiledCluster) bool { return len(cluster.result.Errors) > 0 })
}

// loaded is a repository as it was read.
type loaded struct {
	objects []*object.Object
	errors  report.Errors
	scopes  kindscope.Lookup
}

// compile loads the repository and compiles it for each cluster.
func (r *repoFlags) compile(ctx context.Context, f *cli.Factory, errOut io.Writer) (*compiled, error) {
	l, err := r.load(ctx, f, errOut)
	if err != nil {
		return nil, err
	}
	clusters, err := r.selectClusters(withDefaultCluster(repository.Clusters(l.objects)))
	if err != nil && len(l.errors) == 0 {
		return nil, err
	}
	return r.compileFor(ctx, errOut, l, clusters, nil)
}

// load reads the repository, and the kinds to check it with. Symbolic links cannot lead out of the repository.
func (r *repoFlags) load(ctx context.Context, f *cli.Factory, errOut io.Writer) (*loaded, error) {
	if r.sourceFormat != "hierarchy" {
		return nil, cli.UsageErrorf("--source-format=%s: only hierarchy is supported", r.sourceFormat)
	}
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	line := cli.NewProgress(errOut)
	defer line.Clear()
	line.Showf("reading %s ...", r.path)
	l := &loaded{}
	l.objects, l.errors = load.Load(root.FS(), load.DefaultLimits)
	if len(l.errors) > 0 {
		return l, nil
	}
	if !r.kinds.offline {
		line.Showf("reading the kinds of the API server ...")
	}
	var problem *report.Error
	if l.scopes, problem, err = r.kinds.lookup(ctx, f, errOut, root.FS()); problem != nil {
		l.errors = report.Errors{problem}
	}
	return l, err
}

// compileFor compiles a repository for each of the clusters. previous are the kinds that the previous revision defined.
func (r *repoFlags) compileFor(ctx context.Context, errOut io.Writer, l *loaded, clusters []string, previous []schema.GroupKind) (*compiled, error) {
	if len(l.errors) > 0 {
		return &compiled{loading: l.errors.Sorted()}, nil
	}
	line := cli.NewProgress(errOut)
	defer line.Clear()
	all := &compiled{}
	for i, name := range clusters {
		line.Showf("compiling for %s (%d of %d) ...", name, i+1, len(clusters))
		result, err := repository.Compile(ctx, l.objects, repository.Options{
			Cluster: name, Scopes: l.scopes, AssumeScopes: r.kinds.offline, PreviousKinds: previous, MaxObjects: r.threshold,
			Excluded: hnc.ExcludedNamespaces, AllowSharedNames: r.allowSharedNames,
		})
		if err == nil {
			err = all.add(name, result)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// selectClusters returns the clusters of --clusters, or all.
func (r *repoFlags) selectClusters(known []string) ([]string, error) {
	switch {
	case len(r.clusters) == 0 && len(known) > maxClusters:
		return nil, cli.UsageErrorf("the repository names %d clusters, more than %d; select some of them with --clusters", len(known), maxClusters)
	case len(r.clusters) == 0:
		return known, nil
	}
	for _, name := range r.clusters {
		if !slices.Contains(known, name) {
			return nil, cli.UsageErrorf("--clusters: the repository has no cluster %q, only %s", name, names.List(known, 20, ", "))
		}
	}
	return slices.DeleteFunc(known, func(name string) bool { return !slices.Contains(r.clusters, name) }), nil
}
