// Package subnamespace is the registry of sub-namespaces, also served as subnamespaceanchors.
package subnamespace

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/binding"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// strategy checks and prepares what is said of a single object; what the tree has to say is judged by the hooks of
// NewStorage.
type strategy struct {
	base.Base
	tree *tree.Tree
}

// PrepareForCreate sets the finalizer that holds the object until its namespace is gone.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	s := obj.(*hnc.Subnamespace)
	s.Status = hnc.SubnamespaceStatus{State: hnc.SubnamespaceMissing}
	s.Generation = 1
	if !slices.Contains(s.Finalizers, hnc.FinalizerSubnamespace) {
		s.Finalizers = append(s.Finalizers, hnc.FinalizerSubnamespace)
	}
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	s, was := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	s.Status = was.Status
	binding.Keep(s, was)
	s.Generation = was.Generation
	if !apiequality.Semantic.DeepEqual(s.Spec, was.Spec) {
		s.Generation++
	}
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateSubnamespace(obj.(*hnc.Subnamespace), s.tree.Managed(ctx))
}

func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateSubnamespaceUpdate(obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace), s.tree.Managed(ctx))
}

// statusStrategy lets only the status change.
type statusStrategy struct{ base.Status }

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	s, was := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	s.Spec = was.Spec
	metav1.ResetObjectMetaForStatus(&s.ObjectMeta, &was.ObjectMeta)
}
