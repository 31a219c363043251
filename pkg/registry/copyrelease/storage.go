// Package copyrelease is the registry of requests to make copies ordinary objects. The propagator carries them out.
package copyrelease

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// Storage is what releases and their status are served from.
type Storage struct {
	Release *genericregistry.Store
	Status  *alias.Status
}

// ttl is how long a release is kept, in seconds, and by that for how long after it was authorized it can be carried out.
const ttl = 10 * 60

// NewStorage returns the storage of releases, which t authorizes.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *tree.Tree) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &hnc.CopyRelease{} },
		NewListFunc:               func() runtime.Object { return &hnc.CopyReleaseList{} },
		DefaultQualifiedResource:  hnc.Resource("copyreleases"),
		SingularQualifiedResource: hnc.Resource("copyrelease"),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		BeginCreate: func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
			r := obj.(*hnc.CopyRelease)
			// The store validates after this hook, but no rights are asked for on an object without a name.
			if errs := validate(r); len(errs) > 0 {
				return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "CopyRelease"}, r.Name, errs)
			}
			return func(context.Context, bool) {}, t.AuthorizeRelease(ctx, r, genericapirequest.NamespaceValue(ctx))
		},
		TTLFunc: func(runtime.Object, uint64, bool) (uint64, error) { return ttl, nil },
		TableConvertor: table.New(
			table.Column[hnc.CopyRelease]{Name: "Copy", Type: "string", Description: "The copy.",
				Cell: func(r *hnc.CopyRelease) any { return r.Spec.Resource + "/" + r.Spec.Name }},
			table.Column[hnc.CopyRelease]{Name: "Conditions", Type: "string", Description: "What became of it.",
				Cell: func(r *hnc.CopyRelease) any { return table.Conditions(r.Status.Conditions) }},
		),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	return &Storage{Release: store, Status: alias.NewStatus(store, statusStrategy{base.Status{Base: b}})}, nil
}

// strategy notes who has asked. A release is what was authorized when it was created, so it can't be changed.
type strategy struct{ base.Base }

func (strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	r := obj.(*hnc.CopyRelease)
	r.Status = hnc.CopyReleaseStatus{}
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		metav1.SetMetaDataAnnotation(&r.ObjectMeta, hnc.AnnotationRequester, user.GetName())
	}
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	r, was := obj.(*hnc.CopyRelease), old.(*hnc.CopyRelease)
	r.Status = was.Status
	metav1.SetMetaDataAnnotation(&r.ObjectMeta, hnc.AnnotationRequester, was.Annotations[hnc.AnnotationRequester])
}

func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validate(obj.(*hnc.CopyRelease))
}

func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	if obj.(*hnc.CopyRelease).Spec != old.(*hnc.CopyRelease).Spec {
		return field.ErrorList{field.Forbidden(field.NewPath("spec"), "can't be changed; create another release")}
	}
	return nil
}

// maxLength is how long a name of any kind may be.
const maxLength = 253

// validate also refuses names that no request can have: the propagator would ask for the copy in vain until the release expires.
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

// statusStrategy lets only the status change.
type statusStrategy struct{ base.Status }

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	r, was := obj.(*hnc.CopyRelease), old.(*hnc.CopyRelease)
	r.Spec = was.Spec
	metav1.ResetObjectMetaForStatus(&r.ObjectMeta, &was.ObjectMeta)
}
