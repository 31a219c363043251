// Package view serves one store under several names: each API version has its own resource names and kinds for the same
// objects.
package view

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Resource is what is served under several names.
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
}

// REST is a resource under the names of one version.
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
)

// GroupVersionKind returns the kind of the objects in the given version.
func (r *REST) GroupVersionKind(version schema.GroupVersion) schema.GroupVersionKind {
	return version.WithKind(r.Names.Kind)
}

// GetSingularName returns the singular name.
func (r *REST) GetSingularName() string { return r.Names.Singular }

// ShortNames returns the short names.
func (r *REST) ShortNames() []string { return r.Names.Short }

// Status serves the status subresource of a store.
type Status struct {
	store *genericregistry.Store
	// Kind is the kind of the objects in the version that this serves.
	Kind string
	// Updates transform each updated object.
	Updates []rest.TransformFunc
}

// NewStatus returns the status subresource of a store; strategy decides what an update may change. It never touches the
// tree, so the store's hooks are not called.
func NewStatus(store *genericregistry.Store, strategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}) *Status {
	status := *store
	status.UpdateStrategy, status.ResetFieldsStrategy = strategy, strategy
	status.BeginCreate, status.BeginUpdate = nil, nil
	return &Status{store: &status}
}

// As returns the same subresource for a version in which the objects are of the given kind; updates transform each
// updated object.
func (s *Status) As(kind string, updates ...rest.TransformFunc) *Status {
	return &Status{store: s.store, Kind: kind, Updates: updates}
}

var (
	_ rest.Patcher                  = &Status{}
	_ rest.GroupVersionKindProvider = &Status{}
	_ rest.ResetFieldsStrategy      = &Status{}
)

// GroupVersionKind returns the kind of the objects in the given version.
func (s *Status) GroupVersionKind(version schema.GroupVersion) schema.GroupVersionKind {
	return version.WithKind(s.Kind)
}

// New returns an empty object.
func (s *Status) New() runtime.Object { return s.store.New() }

// Destroy does nothing: the resource itself closes the store.
func (s *Status) Destroy() {}

// Get returns an object.
func (s *Status) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

// Update changes an object's status. It never creates an object.
func (s *Status) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, rest.WrapUpdatedObjectInfo(info, s.Updates...), validateCreate, validateUpdate, false, options)
}

// GetResetFields returns the fields that an update of the status never changes.
func (s *Status) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.GetResetFields()
}

// ConvertToTable prints objects as the resource does.
func (s *Status) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, object, options)
}

// ResetFields returns the set of the given paths, in all versions.
func ResetFields(paths ...fieldpath.Path) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet(paths...)
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(v1beta1.SchemeGroupVersion.String()):  set,
		fieldpath.APIVersion(v1alpha2.SchemeGroupVersion.String()): set,
	}
}
