package subnamespace

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/fencedstore"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/waitready"
)

// Storage contains the storage of sub-namespaces and of their status.
type Storage struct {
	Subnamespace *REST
	Status       *alias.Status
}

// REST serves sub-namespaces. A create returns when the namespace is ready.
type REST struct {
	*fencedstore.Store
	waiter waitready.Waiter
}

// usable is what a create waits for.
var usable = waitready.Effect[*hnc.Subnamespace]{
	Resource:   "subnamespaces",
	Condition:  hnc.ConditionReady,
	Conditions: func(s *hnc.Subnamespace) []metav1.Condition { return s.Status.Conditions },
	Pending:    []string{hnc.ReasonLimitsPending},
	Without:    func(s *hnc.Subnamespace) string { return fmt.Sprintf("namespace %q can't be used yet", s.Name) },
}

// NewStorage returns the storage of sub-namespaces. The tree validates their claims, hierarchies returns where
// cascading deletion is allowed, and a create waits for the namespace.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *treerules.Tree, hierarchies treerules.HierarchyGetter,
	changes *changerates.Changes, waiter waitready.Waiter,
) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b, t}
	store := base.NewStore(&hnc.Subnamespace{}, &hnc.SubnamespaceList{}, "subnamespaces", "subnamespace", s, table.New(columns...))
	hooks := hooks{t, hierarchies, changes, store}
	store.BeginCreate, store.BeginUpdate = hooks.beginCreate, hooks.beginUpdate
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	served := fencedstore.New(store, hooks.beginDelete)
	served.Changes = changes
	return &Storage{
		Subnamespace: &REST{Store: served, waiter: waiter},
		Status:       alias.NewStatus(store, base.Status[*hnc.Subnamespace]{Base: b, Keep: keepSpec}),
	}, nil
}

// Create creates a Subnamespace and waits for its namespace.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Store.Create(ctx, obj, validate, options)
	if err != nil || dryrun.IsDryRun(options.DryRun) || accessreview.ByPropagator(ctx) {
		// The propagator must not wait for itself.
		return created, err
	}
	return waitready.Wait(ctx, r.waiter, r.Store, created.(*hnc.Subnamespace), usable), nil
}

// Update changes a Subnamespace, or creates it for server-side apply and waits for its namespace.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, created, err := r.Store.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
	if err != nil || !created || dryrun.IsDryRun(options.DryRun) {
		return obj, created, err
	}
	return waitready.Wait(ctx, r.waiter, r.Store, obj.(*hnc.Subnamespace), usable), true, nil
}
