// Package alias serves one store under several resource names: each API version has its own names and kinds for the
// same objects.
package alias

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Resource is the storage that is served under several names.
type Resource interface {
	rest.StandardStorage
	rest.StorageWithReadiness
	rest.StorageVersionProvider
	rest.ResetFieldsStrategy
	rest.Scoper
}

// Names are the names of a resource in one version.
type Names struct {
	// Kind is the kind of the objects.
	Kind string
	// Singular is the resource's singular name.
	Singular string
	// Short are its short names.
	Short []string
	// Categories are the groups of resources that it belongs to.
	Categories []string
}

// REST serves a resource under the names of one version.
type REST struct {
	Resource
	Names Names
	// Updates transform each updated object before it is validated.
	Updates []rest.TransformFunc
}

var (
	_ rest.GroupVersionKindProvider = &REST{}
	_ rest.SingularNameProvider     = &REST{}
	_ rest.ShortNamesProvider       = &REST{}
	_ rest.CategoriesProvider       = &REST{}
)

// GroupVersionKind returns the kind of the objects in a version.
func (r *REST) GroupVersionKind(version schema.GroupVersion) schema.GroupVersionKind {
	return version.WithKind(r.Names.Kind)
}

// GetSingularName returns the singular name.
func (r *REST) GetSingularName() string { return r.Names.Singular }

// ShortNames returns the short names.
func (r *REST) ShortNames() []string { return r.Names.Short }

// Categories returns the groups of resources that it belongs to.
func (r *REST) Categories() []string { return r.Names.Categories }

// Create creates an object.
func (r *REST) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Resource.Create(ctx, object, validate, options)
	return created, r.withKind(err)
}

// Update changes an object, or creates it if forceAllowCreate is set.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, created, err := r.Resource.Update(ctx, name, rest.WrapUpdatedObjectInfo(patched{info}, r.Updates...), validateCreate, validateUpdate, forceAllowCreate, options)
	return updated, created, r.withKind(err)
}
