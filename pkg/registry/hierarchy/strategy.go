// Package hierarchy is the registry of hierarchies, also served as hierarchyconfigurations. Package treerules decides who
// may set which parent.
package hierarchy

import (
	"context"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// strategy prepares and validates a single object. The hooks of the store validate it against the tree, because only
// they may return Forbidden and Conflict.
type strategy struct {
	base.Base
	tree      *treerules.Tree
	resources resourcespec.Validator
}

func (s strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	h := obj.(*hnc.Hierarchy)
	h.Status = hnc.HierarchyStatus{ObservedGeneration: hnc.NotObserved}
	forget(h)
	// The generation counts changes of the spec by users; the empty objects of the propagator have generation 0.
	h.Generation = 1
	if accessreview.ByPropagator(ctx) && apiequality.Semantic.DeepEqual(h.Spec, hnc.HierarchySpec{}) {
		h.Generation = 0
	}
	s.setReadyCondition(ctx, h)
}

func (s strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	h, oldH := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	h.Status = oldH.Status
	forget(h)
	h.Generation = oldH.Generation
	if !apiequality.Semantic.DeepEqual(h.Spec, oldH.Spec) || (h.Generation == 0 && !accessreview.ByPropagator(ctx)) {
		h.Generation++
		s.setReadyCondition(ctx, h)
	}
}

// forget removes what only the request says.
func forget(h *hnc.Hierarchy) {
	delete(h.Annotations, hnc.AnnotationExceedQuotas)
	delete(h.Annotations, hnc.AnnotationRestoring)
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	h := obj.(*hnc.Hierarchy)
	return slices.Concat(validation.ValidateHierarchy(h, s.tree.Authorizer.ManagedKeys(ctx)),
		s.validatePropagation(ctx, h, nil))
}

func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	h, oldH := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	return slices.Concat(validation.ValidateHierarchyUpdate(h, oldH, s.tree.Authorizer.ManagedKeys(ctx)),
		s.validatePropagation(ctx, h, oldH.Spec.Propagation))
}

// validatePropagation validates spec.propagation if it has changed.
func (s strategy) validatePropagation(ctx context.Context, h *hnc.Hierarchy, old []hnc.ResourceSpec) field.ErrorList {
	if slices.Equal(h.Spec.Propagation, old) {
		return nil
	}
	return s.resources.Validate(ctx, field.NewPath("spec", "propagation"), h.Spec.Propagation, old)
}

// attributes returns the labels and fields for selectors.
func attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	h, ok := obj.(*hnc.Hierarchy)
	if !ok {
		return nil, nil, fmt.Errorf("not a Hierarchy: %T", obj)
	}
	return h.Labels, generic.AddObjectMetaFieldsSet(fields.Set{"spec.parent": h.Spec.Parent}, &h.ObjectMeta, true), nil
}

// GetResetFields returns the fields that a write to the resource does not change: no client owns what is not stored.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return base.ResetFields(fieldpath.MakePathOrDie("status"),
		fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationExceedQuotas), fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationRestoring))
}

func keepSpec(obj, stored *hnc.Hierarchy) { obj.Spec = stored.Spec }
