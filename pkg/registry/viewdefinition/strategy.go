// Package viewdefinition is the registry of ViewDefinitions: CustomResourceDefinitions that a view has for itself. The
// propagator writes those of the cluster.
package viewdefinition

import (
	"context"
	"encoding/json"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

// strategy records who has created an object, counts the generations of the spec, and sets our finalizer.
type strategy struct {
	base.Base
	slots slots
}

// maxInFlight is how many specs are decoded and validated at the same time, each of which uses up to 100 times its
// size.
const maxInFlight = 2

// slots are those in use.
type slots chan struct{}

// do calls a function when a slot is free. If the context has ended, it returns its error instead.
func (s slots) do(ctx context.Context, f func()) error {
	select {
	case s <- struct{}{}:
		defer func() { <-s }()
		if err := ctx.Err(); err != nil {
			return err
		}
		f()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	v := obj.(*hnc.ViewDefinition)
	v.Status = hnc.ViewDefinitionStatus{ObservedGeneration: hnc.NotObserved}
	v.Generation = 1
	if !slices.Contains(v.Finalizers, hnc.FinalizerViewDefinition) {
		v.Finalizers = append(v.Finalizers, hnc.FinalizerViewDefinition)
	}
	delete(v.Annotations, hnc.AnnotationRequester)
	delete(v.Annotations, hnc.AnnotationRequesterGroups)
	if requester, ok := genericapirequest.UserFrom(ctx); ok {
		metav1.SetMetaDataAnnotation(&v.ObjectMeta, hnc.AnnotationRequester, requester.GetName())
		groups := slices.DeleteFunc(slices.Clone(requester.GetGroups()), func(group string) bool { return group == user.AllAuthenticated })
		if encoded, err := json.Marshal(groups); err == nil && len(groups) > 0 {
			metav1.SetMetaDataAnnotation(&v.ObjectMeta, hnc.AnnotationRequesterGroups, string(encoded))
		}
	}
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	v, oldV := obj.(*hnc.ViewDefinition), old.(*hnc.ViewDefinition)
	v.Status = oldV.Status
	base.SetAnnotation(&v.ObjectMeta, hnc.AnnotationRequester, oldV.Annotations[hnc.AnnotationRequester])
	base.SetAnnotation(&v.ObjectMeta, hnc.AnnotationRequesterGroups, oldV.Annotations[hnc.AnnotationRequesterGroups])
	base.SetGeneration(v, oldV, v.Spec, oldV.Spec)
}

func (s strategy) canonicalize(ctx context.Context, v *hnc.ViewDefinition) {
	if len(v.Spec.Raw) > maxSpec {
		return // It is not valid.
	}
	_ = s.slots.do(ctx, func() { canonicalize(v) }) // The validation fails if the request has ended.
}

// canonicalize gives equal specs the same bytes. One that is not valid stays as it is.
func canonicalize(v *hnc.ViewDefinition) {
	var spec any
	if err := utiljson.Unmarshal(v.Spec.Raw, &spec); err != nil {
		return
	}
	if encoded, err := json.Marshal(spec); err == nil {
		v.Spec = runtime.RawExtension{Raw: encoded}
	}
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return s.validate(ctx, obj.(*hnc.ViewDefinition), nil)
}

func (s strategy) validate(ctx context.Context, v, old *hnc.ViewDefinition) (errs field.ErrorList) {
	if err := s.slots.do(ctx, func() { errs = validate(ctx, v, old) }); err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	return errs
}

func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	v, oldV := obj.(*hnc.ViewDefinition), old.(*hnc.ViewDefinition)
	if apiequality.Semantic.DeepEqual(v.Spec, oldV.Spec) {
		return nil
	}
	return s.validate(ctx, v, oldV)
}

// GetResetFields returns the fields that a write to the resource does not change.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return base.ResetFields(fieldpath.MakePathOrDie("status"),
		fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationRequester),
		fieldpath.MakePathOrDie("metadata", "annotations", hnc.AnnotationRequesterGroups))
}

func keepSpec(obj, stored *hnc.ViewDefinition) { obj.Spec = stored.Spec }
