// Package subnamespace is the registry of sub-namespaces, also served as subnamespaceanchors. Package treerules decides
// who may claim, delete and release a name.
package subnamespace

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// strategy prepares and validates a single object. The hooks of the store validate it against the tree.
type strategy struct {
	base.Base
	tree *treerules.Tree
}

// PrepareForCreate adds the finalizer that keeps the object until its namespace is gone, and records the requester.
func (strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	s := obj.(*hnc.Subnamespace)
	s.Status = hnc.SubnamespaceStatus{ObservedGeneration: hnc.NotObserved, State: hnc.SubnamespaceMissing}
	s.Generation = 1
	if !slices.Contains(s.Finalizers, hnc.FinalizerSubnamespace) {
		s.Finalizers = append(s.Finalizers, hnc.FinalizerSubnamespace)
	}
	requester := ""
	if user, ok := genericapirequest.UserFrom(ctx); ok && !accessreview.ByPropagator(ctx) { // It creates sub-namespaces on behalf of others.
		requester = user.GetName()
	}
	base.SetAnnotation(&s.ObjectMeta, hnc.AnnotationRequester, requester)
	delete(s.Annotations, hnc.AnnotationVoid)
}

func (strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	s, oldS := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	s.Status = oldS.Status
	base.SetAnnotation(&s.ObjectMeta, hnc.AnnotationRequester, oldS.Annotations[hnc.AnnotationRequester])
	if hnc.IsVoid(oldS.Annotations) || (hnc.IsVoid(s.Annotations) && accessreview.ByPropagator(ctx)) {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, hnc.AnnotationVoid, "true")
	} else {
		delete(s.Annotations, hnc.AnnotationVoid)
	}
	base.SetGeneration(s, oldS, s.Spec, oldS.Spec)
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	subns := obj.(*hnc.Subnamespace)
	return validation.ValidateSubnamespace(subns, s.tree.Authorizer.ManagedKeys(ctx))
}

func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	subns, stored := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	return validation.ValidateSubnamespaceUpdate(subns, stored, s.tree.Authorizer.ManagedKeys(ctx))
}

// GetResetFields returns the fields that a write to the resource does not change: no client owns what the server
// writes.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return base.ResetFields(fieldpath.MakePathOrDie("status"), fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationRequester),
		fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationVoid))
}

func keepSpec(obj, stored *hnc.Subnamespace) { obj.Spec = stored.Spec }
