// Package copyrelease is the registry of CopyReleases: requests to convert copies into ordinary objects. The propagator
// fulfills them.
package copyrelease

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

// strategy records the requester, and the hook the source. The spec is immutable, because it was authorized when the object was created.
type strategy struct{ base.Base }

func (strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	r := obj.(*hnc.CopyRelease)
	r.Status = hnc.CopyReleaseStatus{ObservedGeneration: hnc.NotObserved}
	r.Generation = 1
	r.Finalizers = nil // A deletion that waits for them would end its expiry.
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		metav1.SetMetaDataAnnotation(&r.ObjectMeta, hnc.AnnotationRequester, user.GetName())
	}
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	r, oldR := obj.(*hnc.CopyRelease), old.(*hnc.CopyRelease)
	r.Status = oldR.Status
	r.Finalizers = nil
	for _, key := range []string{hnc.AnnotationRequester, hnc.AnnotationSourceUID} {
		base.SetAnnotation(&r.ObjectMeta, key, oldR.Annotations[key])
	}
}

func (strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	r := obj.(*hnc.CopyRelease)
	return slices.Concat(validation.ValidateObjectName(r), validate(r))
}

func (strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	r, oldR := obj.(*hnc.CopyRelease), old.(*hnc.CopyRelease)
	var errs field.ErrorList
	if r.Spec != oldR.Spec {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "can't be changed; create another release"))
	}
	return errs
}

// maxLength is the maximum length of a name of any kind.
const maxLength = 253

// validate also rejects names that cannot be part of a URL, because the propagator would request the copy in vain until
// the release expires.
func validate(r *hnc.CopyRelease) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	for _, f := range []struct{ name, value string }{{"resource", r.Spec.Resource}, {"name", r.Spec.Name}, {"source", r.Spec.Source}} {
		at := spec.Child(f.name)
		if f.value == "" {
			errs = append(errs, field.Required(at, ""))
		}
		for _, problem := range content.IsPathSegmentName(f.value) {
			errs = append(errs, field.Invalid(at, f.value, problem))
		}
		if len(f.value) > maxLength {
			errs = append(errs, field.TooLong(at, "", maxLength))
		}
	}
	if len(r.Spec.Group) > maxLength {
		errs = append(errs, field.TooLong(spec.Child("group"), "", maxLength))
	}
	return errs
}

func keepSpec(obj, stored *hnc.CopyRelease) { obj.Spec = stored.Spec }
