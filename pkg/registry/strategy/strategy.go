// Package strategy holds what the strategies of all resources have in common.
package strategy

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/view"
)

// Base is the part of a resource's strategy that is the same for all: an object is created by POST or apply, and changed
// in the version that the client has seen, as custom resources are; its status is not written with it.
type Base struct {
	runtime.ObjectTyper
	names.NameGenerator
	namespaced bool
}

// New returns the base of the strategy of a type of the scheme, whose objects are in namespaces or not.
func New(scheme *runtime.Scheme, namespaced bool) Base {
	return Base{scheme, names.SimpleNameGenerator, namespaced}
}

// NamespaceScoped says whether the objects are in namespaces.
func (b Base) NamespaceScoped() bool { return b.namespaced }

// WarningsOnCreate returns no warnings.
func (Base) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate returns no warnings.
func (Base) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string { return nil }

// AllowCreateOnUpdate says that a PUT creates nothing.
func (Base) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate says that a PUT must name the version that it changes.
func (Base) AllowUnconditionalUpdate(context.Context) bool { return false }

// Canonicalize leaves the object as it is.
func (Base) Canonicalize(runtime.Object) {}

// GetResetFields returns the fields that a write to the resource itself never changes.
func (Base) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return view.ResetFields(fieldpath.MakePathOrDie("status"))
}

// Status is the part of the strategy of a status subresource that is the same for all.
type Status struct{ Base }

// ValidateUpdate finds nothing wrong: only the propagator may write a status.
func (Status) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// GetResetFields returns the fields that a write to the status never changes.
func (Status) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return view.ResetFields(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
}
