// Package tenantview is the registry of TenantViews, which hns-gateway serves.
package tenantview

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

// strategy counts the generations of the spec, which the status refers to.
type strategy struct{ base.Base }

func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	v := obj.(*hnc.TenantView)
	v.Status = hnc.TenantViewStatus{}
	v.Generation = 1
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	v, oldV := obj.(*hnc.TenantView), old.(*hnc.TenantView)
	v.Status = oldV.Status
	base.SetGeneration(v, oldV, v.Spec, oldV.Spec)
}

func (strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	v := obj.(*hnc.TenantView)
	return validation.ValidateTenantView(v)
}

func (strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	v, oldV := obj.(*hnc.TenantView), old.(*hnc.TenantView)
	var errs field.ErrorList
	if apiequality.Semantic.DeepEqual(v.Spec, oldV.Spec) {
		return errs
	}
	return append(errs, validation.ValidateTenantView(v)...)
}

func keepSpec(obj, stored *hnc.TenantView) { obj.Spec = stored.Spec }
