// Package treerules validates and authorizes changes of the tree of namespaces. It evaluates its rules on an index of all
// edges that may be stale. The rules hold nevertheless, because a write commits only if the edges that were read are
// unchanged (pkg/storage/fence).
//
// Lemma: a commit that gives N the parent P compares every edge from P to its root, and N is not among them. So it
// keeps an acyclic graph acyclic, regardless of concurrent commits.
package treerules

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	model "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// Edges stores the edges.
type Edges interface {
	// Read returns the current edges of the given names.
	Read(ctx context.Context, names ...string) ([]fence.Entry, error)
	// Mark returns the revision at which a namespace last got the named one as its parent, 0 if none did within a day.
	Mark(ctx context.Context, name string) (int64, error)
	// ListAndWatch calls replace with all edges, then update with each change, until ctx is done.
	ListAndWatch(ctx context.Context, replace func([]fence.Entry), update func(fence.Entry))
	// WaitUntilFresh returns when ListAndWatch has delivered everything that was committed before the call.
	WaitUntilFresh(ctx context.Context) error
}

// HierarchyGetter returns the Hierarchy of a namespace, or a NotFound error.
type HierarchyGetter func(ctx context.Context, namespace string) (*hnc.Hierarchy, error)

// HierarchyRecord returns what pkg/model/tree keeps of a Hierarchy, nil for none.
func HierarchyRecord(stored *hnc.Hierarchy) (*model.Hierarchy, error) {
	if stored == nil {
		return nil, nil
	}
	var h v1beta1.Hierarchy
	err := v1beta1.Convert_hnc_Hierarchy_To_v1beta1_Hierarchy(stored, &h, nil)
	return model.NewHierarchy(&h), err
}

// Config is the configuration of a Tree.
type Config struct {
	// Edges stores the edges.
	Edges Edges
	// Namespaces lists the namespaces of the cluster from a cache.
	Namespaces corelisters.NamespaceLister
	// Client reads current namespaces from the cluster.
	Client kubernetes.Interface
	// Authorizer authorizes requesters in the cluster.
	Authorizer authorizer.Authorizer
	// Rules returns the rules that determine which namespaces are excluded, and which of their labels and annotations
	// are managed.
	Rules func() managedkeys.Rules
	// Sources finds the objects that a change would overwrite. Nil disables the checks.
	Sources Sources
	// Quotas knows the hierarchical quotas. Nil means that there are none.
	Quotas Quotas
	// Use knows the use that moves would bring below quotas. Nil disables the check.
	Use Use
	// Records stores the records that quotas depend on.
	Records limits.Records
	// SubnamespacesOf returns the names of the namespaces whose annotations name a parent as that of a sub-namespace,
	// from a cache. Nil means that there are none.
	SubnamespacesOf func(parent string) ([]string, error)
	// IsAbstractAncestor reports whether a name is that of an abstract ancestor of a namespace, from a cache. Nil means
	// that there are none.
	IsAbstractAncestor func(name string) bool
	// SubnamespaceNames returns the cluster's rule for the names of new sub-namespaces, nil if there is none. It is
	// called for each new name and must not read from a cache, because a rule applies as soon as it is written. A nil
	// function allows all names.
	SubnamespaceNames func(context.Context) (*hnc.SubnamespaceNames, error)
	// Names returns the names in the TenantView of a namespace, nil if it has none. A nil function means that there are
	// no TenantViews.
	Names func(ctx context.Context, namespace string) (*mapping.Names, error)
	// Rebuilding reports whether the hierarchies that were propagated last are not in the store. Nil means that they
	// always are.
	Rebuilding func(context.Context) (bool, error)
}

// propagated returns what reports which kinds are propagated.
func (c *Config) propagated() quota.Propagated {
	if c.Sources == nil {
		return nil
	}
	return c.Sources.Propagated
}

// Tree evaluates writes that concern more than the object itself. All of its parts are safe for concurrent use.
type Tree struct {
	// Index holds the edges that this replica knows.
	Index *Index
	// Authorizer authorizes the requester beyond the request itself.
	Authorizer *Authorizer
	// Moves validates the parents that Hierarchies set.
	Moves *Moves
	// Abstract validates the abstract ancestors that Hierarchies set.
	Abstract *Abstract
	// Claims validates the names that Subnamespaces claim.
	Claims *Claims
	// Overwrites rejects changes that would overwrite objects.
	Overwrites *Overwrites

	rebuilding func(context.Context) (bool, error)
}

// New returns a Tree whose index is empty until Index.Run fills it.
func New(config Config) *Tree {
	index := newIndex(&config)
	authorizer := &Authorizer{index: index, config: &config}
	overwrites := &Overwrites{index: index, config: &config, changes: inflight.New(
		"changes of what is propagated", inflight.Limits{Total: maxModeChanges, PerUser: maxModeChangesPerUser}, 1)}
	return &Tree{
		Index:      index,
		Authorizer: authorizer,
		Moves:      &Moves{index: index, authorizer: authorizer, overwrites: overwrites},
		Abstract:   &Abstract{index: index, authorizer: authorizer},
		Claims:     &Claims{index: index, authorizer: authorizer, overwrites: overwrites, config: &config},
		Overwrites: overwrites,
		rebuilding: config.Rebuilding,
	}
}
