package repo

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	hncv1alpha3 "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/typed/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// targetFlags select the objects in the cluster that a repository is compared with or applied to.
type targetFlags struct {
	name                     string
	allowMass, allowNonEmpty bool
}

func (t *targetFlags) add(cmd *cobra.Command, f *cli.Factory) {
	flags := cmd.Flags()
	flags.StringVar(&t.name, "name", "repository", "The RepositorySync, or the name in an earlier apply, that objects in the cluster are recorded under")
	flags.BoolVar(&t.allowMass, "allow-mass-deletion", false, "Do not fail if more than half of the namespaces are removed")
	flags.BoolVar(&t.allowNonEmpty, "allow-non-empty-namespace-deletion", false, "Remove namespaces that have sub-namespaces, or contain objects that are not from the repository, and CustomResourceDefinitions of such objects")
	cli.CompleteFlag(cmd, "name", f.CompleteRepositorySyncs)
}

func (t *targetFlags) validate(repo *repoFlags) error {
	switch {
	case len(validation.IsDNS1123Label(t.name)) > 0:
		return cli.UsageErrorf("--name=%s is not the name of a RepositorySync: use lower case letters, digits and '-'", t.name)
	case repo.kinds.offline:
		return cli.UsageErrorf("--no-api-server-check: this command works with the API server; leave the flag out")
	case len(repo.clusters) > 1:
		return cli.UsageErrorf("--clusters: a server is one cluster; give the name of that one")
	}
	return nil
}

// target is a repository compiled for the cluster of the kubeconfig, and what that cluster contains of it.
type target struct {
	name    string
	config  *rest.Config
	syncs   hncv1alpha3.RepositorySyncInterface
	result  *repository.Result
	desired []*plan.Object

	cluster *cluster.Cluster
	// sync is the RepositorySync of the name, nil if there is none.
	sync *v1alpha3.RepositorySync
	// unknown are the kinds that cannot be listed.
	unknown map[schema.GroupKind]error
}

// open compiles a repository, prints its errors, and reads the objects that are recorded in the cluster.
func (t *targetFlags) open(ctx context.Context, f *cli.Factory, repo *repoFlags, errOut io.Writer) (*target, error) {
	c, err := f.Clients()
	if err != nil {
		return nil, err
	}
	found := &target{name: t.name, syncs: c.Hierarchy.HncV1alpha3().RepositorySyncs()}
	if found.config, err = f.Config(); err != nil {
		return nil, err
	}
	if err := found.readSync(ctx); err != nil {
		return nil, err
	}
	if found.result, err = t.compile(ctx, f, repo, found.sync, errOut); err != nil {
		return nil, err
	}
	if found.desired, err = plan.Desired(ctx, found.result, t.name); err != nil {
		return nil, err
	}
	return found, found.readCluster(ctx, errOut)
}

// readSync reads the RepositorySync.
func (t *target) readSync(ctx context.Context) error {
	s, err := t.syncs.Get(ctx, t.name, metav1.GetOptions{})
	switch {
	case err == nil:
		t.sync = s
	case apierrors.IsNotFound(err):
		t.sync = nil
	default:
		return err
	}
	return nil
}

// readCluster reads the objects that are recorded in the cluster.
func (t *target) readCluster(ctx context.Context, errOut io.Writer) error {
	var err error
	if t.cluster, err = cluster.New(t.config, t.config, t.name, func() {}); err != nil {
		return err
	}
	if err := t.cluster.Refresh(ctx); err != nil {
		return err
	}
	if _, served := t.cluster.Resource(plan.HierarchyKind); !served {
		t.desired = slices.DeleteFunc(t.desired, func(o *plan.Object) bool { return o.Generated })
	}
	line := cli.NewProgress(errOut)
	defer line.Clear()
	line.Showf("looking for objects that %s has applied ...", t.name)
	t.unknown = t.cluster.List(ctx, t.kinds())
	return ctx.Err()
}

// compile compiles the repository for the cluster that --clusters or the RepositorySync names. Errors are printed.
func (t *targetFlags) compile(ctx context.Context, f *cli.Factory, repo *repoFlags, s *v1alpha3.RepositorySync, errOut io.Writer) (*repository.Result, error) {
	l, err := repo.load(ctx, f, errOut)
	if err != nil {
		return nil, err
	}
	clusters := []string{defaultCluster}
	switch {
	case len(repo.clusters) > 0:
		clusters, err = repo.selectClusters(withDefaultCluster(repository.Clusters(l.objects)))
		if err != nil && len(l.errors) == 0 {
			return nil, err
		}
	case s != nil:
		clusters[0] = s.Spec.Cluster
	}
	all, err := repo.compileFor(ctx, errOut, l, clusters, nil)
	if err != nil {
		return nil, err
	}
	printCompiled(errOut, all)
	if all.failed() {
		return nil, cli.ErrReported
	}
	result := all.clusters[0].result
	for _, warning := range result.Warnings {
		if warning.Code == report.SharedName {
			return nil, fmt.Errorf("an abstract directory has the name of a namespace, so one tree label would stand for both; rename it, or give --allow-shared-names")
		}
		if !warning.Code.Applicable() {
			return nil, fmt.Errorf("%s: %s", warning.Code, warning.Message)
		}
	}
	return result, nil
}

// kinds returns the kinds to list: those of the repository, and all others, because objects of any kind may have left
// it.
func (t *target) kinds() []schema.GroupKind {
	var kinds []schema.GroupKind
	seen := map[schema.GroupKind]bool{}
	add := func(kind schema.GroupKind) {
		if _, served := t.cluster.Resource(kind); served && !seen[kind] {
			kinds = append(kinds, kind)
		}
		seen[kind] = true
	}
	for _, o := range t.desired {
		add(o.Kind)
	}
	for _, kind := range t.cluster.Kinds() {
		add(kind)
	}
	return kinds
}

// state returns what is known of the cluster. Of kinds that cannot be listed, nothing is known; without the namespaces
// or the CustomResourceDefinitions, no deletion of either can be found to be safe.
func (t *target) state() *plan.State {
	state := t.cluster.State()
	state.Unknown = map[schema.GroupKind]bool{}
	for kind := range t.unknown {
		state.Unknown[kind] = true
	}
	if state.Unknown[object.Namespace] || state.Unknown[object.CRD] {
		state.Unknown[object.Namespace], state.Unknown[object.CRD] = true, true
	}
	return state
}

// unsafe returns why nothing that has left the repository may be deleted, as hns-sync refuses such a revision.
func (t *target) unsafe(state *plan.State, allowMassDeletion bool) report.Errors {
	return append(plan.RemovedDefinitions(state, t.desired, t.cluster.Resource), plan.Unsafe(state, t.result, allowMassDeletion)...)
}

// warnUnknown prints which kinds cannot be listed, except for those that were printed before. Objects of them that have
// left the repository are not known, and stay.
func (t *target) warnUnknown(errOut io.Writer, printed map[schema.GroupKind]error) {
	kinds := slices.SortedFunc(maps.Keys(t.unknown), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	for _, kind := range kinds {
		if printed[kind] != nil {
			continue
		}
		cli.Warnf(errOut, "%s; objects of this kind that have left the repository are not known", cli.ServerMessage(t.unknown[kind]))
	}
}
