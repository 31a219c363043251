package hierarchicalresourcequota

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// hooks are the hooks of the store.
type hooks struct {
	index   *treerules.Index
	changes *changerates.Changes
}

func (k hooks) beginCreate(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	return base.FinishNothing, k.setLimits(ctx, obj.(*hnc.HierarchicalResourceQuota), nil)
}

// beginUpdate also serves the removal of the last finalizer of a deleted quota, which ends its limits.
func (k hooks) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	if genericregistry.ShouldDeleteDuringUpdate(ctx, "", obj, old) {
		return base.FinishNothing, k.changeLimits(ctx, old, &fence.Guard{}, "delete")
	}
	if apiequality.Semantic.DeepEqual(obj.(*hnc.HierarchicalResourceQuota).Spec, old.(*hnc.HierarchicalResourceQuota).Spec) {
		return base.FinishNothing, fence.Set(ctx, nil)
	}
	return base.FinishNothing, k.setLimits(ctx, obj.(*hnc.HierarchicalResourceQuota), old.(*hnc.HierarchicalResourceQuota))
}

// setLimits allows a new quota, or a changed one, and warns of limits that are not in force. old is nil for a new quota.
func (k hooks) setLimits(ctx context.Context, q, old *hnc.HierarchicalResourceQuota) error {
	namespace := genericapirequest.NamespaceValue(ctx)
	guard, err := k.index.AllowQuota(ctx, namespace, q, old)
	if err != nil {
		return err
	}
	if err := k.changeLimits(ctx, q, guard, "update"); err != nil {
		return err
	}
	k.index.WarnOfIgnoredLimits(ctx, namespace, q)
	return nil
}

func (k hooks) beginDelete(ctx context.Context, obj runtime.Object) error {
	return k.changeLimits(ctx, obj, &fence.Guard{}, "delete")
}

// changeLimits makes a write with a guard invalidate all decisions that are based on the limits, those about other quotas
// in the namespace, and the recorded use of its subtree: while the namespace has no quota, that is not kept up to date.
func (k hooks) changeLimits(ctx context.Context, obj runtime.Object, guard *fence.Guard, verb string) error {
	namespace := obj.(*hnc.HierarchicalResourceQuota).Namespace
	// A change has the decisions of all trees that are under way made again.
	if err := k.changes.Allow(ctx, k.index.Root(namespace), 1+changerates.Below(k.index.Below(namespace)), verb); err != nil {
		return err
	}
	guard.PutRecords = map[string][]byte{limits.Record: {}, limits.Ledger(namespace): {}, limits.Children(namespace): {}, limits.Quotas(namespace): {}}
	return fence.Set(ctx, guard)
}
