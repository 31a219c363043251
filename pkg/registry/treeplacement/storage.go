// Package treeplacement serves treeplacements: many namespaces get their parents in one request. Each placement is a write of the hierarchy in its
// namespace, with everything that such a write passes: authorization, admission, validation, managed fields and audit. The writes are evaluated
// as a whole (tree.Placements), and then committed, parents first (fence.Batch).
package treeplacement

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

const kind = "TreePlacement"

// Config is the configuration of the resource.
type Config struct {
	// Moves evaluates the moves.
	Moves *tree.Moves
	// NewBatch returns a batch for the writes of one request.
	NewBatch func() *fence.Batch
	// Write writes the hierarchy of a namespace as the requester's own request would.
	Write func(ctx context.Context, write Write) error
	// Hierarchy returns the stored hierarchy of a namespace, and CachedHierarchy one that may be stale.
	Hierarchy, CachedHierarchy tree.HierarchyGetter
	// Authorizer reviews the rights of requesters. Its answers are cached.
	Authorizer authorizer.Authorizer
}

// Write is the write of one hierarchy.
type Write struct {
	// Namespace is the namespace of the hierarchy.
	Namespace string
	// Parent is the parent that it sets, "" for none.
	Parent string
	// Exists reports whether the hierarchy exists and is to be changed, rather than created.
	Exists bool
	// Options are the options of the request that the write belongs to.
	Options *metav1.CreateOptions
}

// limits bound the placements in flight. Each holds its writes in memory until they are committed.
var limits = inflight.Limits{Total: 4, PerUser: 2}

// REST serves the resource, which supports create only.
type REST struct {
	Config
	limiter *inflight.Limiter
}

var (
	_ rest.Scoper                   = &REST{}
	_ rest.GroupVersionKindProvider = &REST{}
	_ rest.SingularNameProvider     = &REST{}
)

// New returns the storage of the resource.
func New(config Config) *REST {
	return &REST{config, inflight.New("tree placements in progress", limits, 1)}
}

// New returns an empty object.
func (*REST) New() runtime.Object { return &hnc.TreePlacement{} }

// Destroy does nothing.
func (*REST) Destroy() {}

// NamespaceScoped returns false: a request concerns many namespaces, and belongs to none.
func (*REST) NamespaceScoped() bool { return false }

// GetSingularName returns the singular name.
func (*REST) GetSingularName() string { return "treeplacement" }

// GroupVersionKind returns the kind of the objects.
func (*REST) GroupVersionKind(version schema.GroupVersion) schema.GroupVersionKind {
	return version.WithKind(kind)
}

// Create makes the placements, and returns the object with the results. It stores nothing else.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	asked := obj.(*hnc.TreePlacement)
	if errs := validatePlacements(asked); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: kind}, asked.Name, errs)
	}
	if validate != nil {
		if err := validate(ctx, obj); err != nil {
			return nil, err
		}
	}
	release, err := r.limiter.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	answer := asked.DeepCopy()
	answer.Status, err = r.moveAll(ctx, asked, options)
	if err != nil {
		return nil, err
	}
	return answer, nil
}
