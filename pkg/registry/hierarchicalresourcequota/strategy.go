// Package hierarchicalresourcequota is the registry of HierarchicalResourceQuotas.
package hierarchicalresourcequota

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

type strategy struct{ base.Base }

func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	q := obj.(*hnc.HierarchicalResourceQuota)
	q.Status = hnc.HierarchicalResourceQuotaStatus{ObservedGeneration: hnc.NotObserved}
	roundUp(q.Spec.Hard)
	q.Generation = 1
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	q, oldQ := obj.(*hnc.HierarchicalResourceQuota), old.(*hnc.HierarchicalResourceQuota)
	q.Status = oldQ.Status
	roundUp(q.Spec.Hard)
	base.SetGeneration(q, oldQ, q.Spec, oldQ.Spec)
}

// roundUp rounds quantities up to thousandths, as kube-apiserver does in ResourceQuotas, so that both can be compared.
func roundUp(hard corev1.ResourceList) {
	for name, quantity := range hard {
		quantity.RoundUp(resource.Milli)
		hard[name] = quantity
	}
}

func (strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	q := obj.(*hnc.HierarchicalResourceQuota)
	if errs := validation.ValidateObjectName(q); len(errs) > 0 {
		return errs
	}
	return inVersion(ctx, validation.ValidateQuota(q))
}

// ValidateUpdate rejects other scopes, as kube-apiserver does in ResourceQuotas: use would be counted anew, and
// unlimited until then.
func (strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	q, oldQ := obj.(*hnc.HierarchicalResourceQuota), old.(*hnc.HierarchicalResourceQuota)
	errs := validation.ValidateQuotaUpdate(q, oldQ)
	if quota.ScopeOf(&q.Spec) != quota.ScopeOf(&oldQ.Spec) {
		at := field.NewPath("spec", "scopes")
		if !apiequality.Semantic.DeepEqual(q.Spec.ScopeSelector, oldQ.Spec.ScopeSelector) {
			at = field.NewPath("spec", "scopeSelector")
		}
		errs = append(errs, field.Forbidden(at, "can't be changed; create another quota with the new scopes, then delete this one"))
	}
	return inVersion(ctx, errs)
}

// inVersion returns the errors in the form of the requested version. HNC has one error about .spec.hard
// (docs/spec/hnc.md 2.8, Q1).
func inVersion(ctx context.Context, errs field.ErrorList) field.ErrorList {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	if !ok || info.APIVersion != v1alpha2.SchemeGroupVersion.Version || len(errs) == 0 {
		return errs
	}
	return field.ErrorList{field.Invalid(field.NewPath(".spec.hard"), field.OmitValueType{}, errs.ToAggregate().Error())}
}

func keepSpec(obj, stored *hnc.HierarchicalResourceQuota) { obj.Spec = stored.Spec }
