package hierarchicalresourcequota

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/fencedstore"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/waitready"
)

// Storage contains the storage of quotas and of their status.
type Storage struct {
	Quota  *REST
	Status *alias.Status
}

// REST serves quotas. A write of limits returns when they are in force.
type REST struct {
	*fencedstore.Store
	waiter   waitready.Waiter
	enforced waitready.Effect[*hnc.HierarchicalResourceQuota]
}

// NewStorage returns the storage of quotas. The tree knows in which namespaces there are none. A write waits until its
// limits are in force, and settle has recorded the use that was there before.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *treerules.Tree, reviews authorizer.Authorizer, waiter waitready.Waiter,
	settle func(context.Context, *hnc.HierarchicalResourceQuota) error,
) (*Storage, error) {
	b := base.New(scheme, true)
	s, k := strategy{b}, hooks{t.Index, changerates.NewChanges(reviews, "hierarchicalresourcequotas", "limits")}
	store := base.NewStore(&hnc.HierarchicalResourceQuota{}, &hnc.HierarchicalResourceQuotaList{}, "hierarchicalresourcequotas", "hierarchicalresourcequota", s, table.New(columns...))
	store.BeginCreate, store.BeginUpdate = k.beginCreate, k.beginUpdate
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	quotas := fencedstore.New(store, k.beginDelete)
	quotas.GeneratesNames, quotas.Changes = true, k.changes
	return &Storage{
		Quota: &REST{Store: quotas, waiter: waiter, enforced: waitready.Effect[*hnc.HierarchicalResourceQuota]{
			Resource:   "hierarchicalresourcequotas",
			Condition:  hnc.ConditionReady,
			Conditions: func(q *hnc.HierarchicalResourceQuota) []metav1.Condition { return q.Status.Conditions },
			Pending:    []string{hnc.ReasonPending},
			Warned:     []string{hnc.ReasonQuotaLimitsIgnored},
			Without:    func(*hnc.HierarchicalResourceQuota) string { return "not all limits are in force yet" },
			Complete:   settle,
		}},
		Status: alias.NewStatus(store, base.Status[*hnc.HierarchicalResourceQuota]{Base: b, Keep: keepSpec}),
	}, nil
}

// Create creates a quota, and waits until it is in force.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Store.Create(ctx, obj, validate, options)
	if err != nil {
		return created, err
	}
	return r.wait(ctx, created, options.DryRun), nil
}

// Update changes a quota, or creates it for server-side apply, and waits until it is in force.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, created, err := r.Store.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
	if err != nil {
		return updated, created, err
	}
	return r.wait(ctx, updated, options.DryRun), created, nil
}

// wait waits for the limits that ResourceQuotas enforce. Sub-namespaces are counted when they are created.
func (r *REST) wait(ctx context.Context, written runtime.Object, dryRun []string) runtime.Object {
	q := written.(*hnc.HierarchicalResourceQuota)
	if dryrun.IsDryRun(dryRun) || len(quota.Counted(q.Spec.Hard)) == 0 {
		return q
	}
	return waitready.Wait(ctx, r.waiter, r.Store, q, r.enforced)
}
