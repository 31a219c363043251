// Package subnamespace is the registry of sub-namespaces, also served as subnamespaceanchors.
package subnamespace

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// strategy checks and prepares what is said of a single object; what the tree has to say is judged by the hooks of
// NewStorage.
type strategy struct {
	base.Base
	tree *tree.Tree
}

// PrepareForCreate sets the finalizer that holds the object until its namespace is gone, and notes who has asked for it.
func (strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	s := obj.(*hnc.Subnamespace)
	s.Status = hnc.SubnamespaceStatus{State: hnc.SubnamespaceMissing}
	s.Generation = 1
	if !slices.Contains(s.Finalizers, hnc.FinalizerSubnamespace) {
		s.Finalizers = append(s.Finalizers, hnc.FinalizerSubnamespace)
	}
	setRequester(s, requester(ctx))
	delete(s.Annotations, hnc.AnnotationVoid)
}

func (strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	s, was := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	s.Status = was.Status
	setRequester(s, was.Annotations[hnc.AnnotationRequester])
	if void(was) || (void(s) && requester(ctx) == "") {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, hnc.AnnotationVoid, "true")
	} else {
		delete(s.Annotations, hnc.AnnotationVoid)
	}
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

// GetResetFields returns the fields that a write to the resource never changes: nobody owns what the server writes.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return base.ResetFields(fieldpath.MakePathOrDie("status"), fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationRequester),
		fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationVoid))
}

// void says whether the namespace of a Subnamespace was converted to a full one.
func void(s *hnc.Subnamespace) bool { return s.Annotations[hnc.AnnotationVoid] != "" }

// requester returns the name of the user who asks for a sub-namespace. The propagator asks for none on its own account: "".
func requester(ctx context.Context) string {
	if user, ok := genericapirequest.UserFrom(ctx); ok && user.GetName() != hnc.PropagatorUser {
		return user.GetName()
	}
	return ""
}

// setRequester makes user the requester, whatever a client says; "" for nobody.
func setRequester(s *hnc.Subnamespace, user string) {
	if user == "" {
		delete(s.Annotations, hnc.AnnotationRequester)
		return
	}
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, hnc.AnnotationRequester, user)
}

// statusStrategy lets only the status change.
type statusStrategy struct{ base.Status }

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	s, was := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	s.Spec = was.Spec
	metav1.ResetObjectMetaForStatus(&s.ObjectMeta, &was.ObjectMeta)
}
