package alias

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Status serves the status subresource of a store.
type Status struct {
	store *genericregistry.Store
	// kind is the kind of the objects in the version that is served.
	kind string
	// updates transform each updated object.
	updates []rest.TransformFunc
}

// NewStatus returns the status subresource of a store. The strategy determines what an update may change. Status
// updates do not run the hooks of the store, because they never change the tree.
func NewStatus(store *genericregistry.Store, strategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}) *Status {
	status := *store
	status.UpdateStrategy, status.ResetFieldsStrategy = strategy, strategy
	status.BeginCreate, status.BeginUpdate = nil, nil
	return &Status{store: &status}
}

// As returns the subresource for a version in which the objects have the given kind. The updates transform each updated
// object.
func (s *Status) As(kind string, updates ...rest.TransformFunc) *Status {
	return &Status{store: s.store, kind: kind, updates: updates}
}

var (
	_ rest.Patcher                  = &Status{}
	_ rest.GroupVersionKindProvider = &Status{}
	_ rest.ResetFieldsStrategy      = &Status{}
)

// GroupVersionKind returns the kind of the objects in a version.
func (s *Status) GroupVersionKind(version schema.GroupVersion) schema.GroupVersionKind {
	return version.WithKind(s.kind)
}

// New returns an empty object.
func (s *Status) New() runtime.Object { return s.store.New() }

// Destroy does nothing, because the resource itself closes the store.
func (s *Status) Destroy() {}

// Get returns an object.
func (s *Status) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

// Update changes the status of an object. It never creates an object.
func (s *Status) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, rest.WrapUpdatedObjectInfo(patched{info}, s.updates...), validateCreate, validateUpdate, false, options)
}

// GetResetFields returns the fields that a status update does not change.
func (s *Status) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.GetResetFields()
}

// ConvertToTable prints objects as the resource does.
func (s *Status) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, object, options)
}
