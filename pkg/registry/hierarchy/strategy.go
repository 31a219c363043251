// Package hierarchy is the registry of hierarchies, also served as hierarchyconfigurations.
package hierarchy

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// strategy checks and prepares what is said of a single object; what the tree has to say is judged by the hooks of
// NewStorage, which can also answer Forbidden and Conflict.
type strategy struct {
	base.Base
	tree  *tree.Tree
	kinds resourcespec.Validator
}

func (s strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	h := obj.(*hnc.Hierarchy)
	h.Status = hnc.HierarchyStatus{}
	// The generation counts what was asked for, so that the propagator's empty records have none.
	h.Generation = 1
	if tree.ByPropagator(ctx) && apiequality.Semantic.DeepEqual(h.Spec, hnc.HierarchySpec{}) {
		h.Generation = 0
	}
	s.sayReady(ctx, h)
}

func (s strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	h, was := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	h.Status = was.Status
	h.Generation = was.Generation
	if !apiequality.Semantic.DeepEqual(h.Spec, was.Spec) || (h.Generation == 0 && !tree.ByPropagator(ctx)) {
		h.Generation++
		s.sayReady(ctx, h)
	}
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	h := obj.(*hnc.Hierarchy)
	return append(validation.ValidateHierarchy(h, s.tree.Managed(ctx)), s.validateKinds(ctx, h, nil)...)
}

func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	h, was := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	return append(validation.ValidateHierarchyUpdate(h, was, s.tree.Managed(ctx)), s.validateKinds(ctx, h, was.Spec.Propagation)...)
}

// statusStrategy lets only the status change.
type statusStrategy struct{ base.Status }

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	h, was := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	h.Spec = was.Spec
	metav1.ResetObjectMetaForStatus(&h.ObjectMeta, &was.ObjectMeta)
}

// attributes returns what selectors can select by.
func attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	h, ok := obj.(*hnc.Hierarchy)
	if !ok {
		return nil, nil, fmt.Errorf("not a Hierarchy: %T", obj)
	}
	return h.Labels, generic.AddObjectMetaFieldsSet(fields.Set{"spec.parent": h.Spec.Parent}, &h.ObjectMeta, true), nil
}
