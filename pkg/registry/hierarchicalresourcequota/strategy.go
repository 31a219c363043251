// Package hierarchicalresourcequota is the registry of HierarchicalResourceQuotas.
package hierarchicalresourcequota

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

type strategy struct{ base.Base }

func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	q := obj.(*hnc.HierarchicalResourceQuota)
	q.Status = hnc.HierarchicalResourceQuotaStatus{}
	q.Generation = 1
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	q, oldQ := obj.(*hnc.HierarchicalResourceQuota), old.(*hnc.HierarchicalResourceQuota)
	q.Status = oldQ.Status
	q.Generation = oldQ.Generation
	if !apiequality.Semantic.DeepEqual(q.Spec, oldQ.Spec) {
		q.Generation++
	}
}

func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateQuota(obj.(*hnc.HierarchicalResourceQuota))
}

func (strategy) ValidateUpdate(_ context.Context, obj, _ runtime.Object) field.ErrorList {
	return validation.ValidateQuota(obj.(*hnc.HierarchicalResourceQuota))
}

// statusStrategy is the strategy of hierarchicalresourcequotas/status, which changes the status only.
type statusStrategy struct{ base.Status }

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	q, oldQ := obj.(*hnc.HierarchicalResourceQuota), old.(*hnc.HierarchicalResourceQuota)
	q.Spec = oldQ.Spec
	metav1.ResetObjectMetaForStatus(&q.ObjectMeta, &oldQ.ObjectMeta)
}
