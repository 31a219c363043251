// Package strategy holds the parts of the strategies that are the same for all resources: object typing, scope, and the
// behavior of updates.
//
// The generic API server has no base strategy; each strategy would repeat these methods.
package strategy

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Base is the common part of the strategies of resources. As with custom resources, objects are created by POST or
// apply, and an update needs the resourceVersion that the client has read. The status is not written with the object.
type Base struct {
	runtime.ObjectTyper
	names.NameGenerator
	namespaced bool
}

// New returns the base for a type of the scheme.
func New(scheme *runtime.Scheme, namespaced bool) Base {
	return Base{scheme, names.SimpleNameGenerator, namespaced}
}

// NamespaceScoped reports whether the objects are namespaced.
func (b Base) NamespaceScoped() bool { return b.namespaced }

// WarningsOnCreate returns no warnings.
func (Base) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate returns no warnings.
func (Base) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string { return nil }

// AllowCreateOnUpdate returns false: a PUT creates nothing.
func (Base) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns false: a PUT needs a resourceVersion.
func (Base) AllowUnconditionalUpdate(context.Context) bool { return false }

// Canonicalize leaves the object as it is.
func (Base) Canonicalize(runtime.Object) {}

// GetResetFields returns the fields that a write to the resource does not change.
func (Base) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return ResetFields(fieldpath.MakePathOrDie("status"))
}

// Status is the strategy of a status subresource, whose writes change the status only.
type Status[T interface {
	runtime.Object
	metav1.Object
}] struct {
	Base
	// Keep copies the stored spec into the object, and completes its status.
	Keep func(obj, stored T)
}

// PrepareForUpdate keeps everything but the status.
func (s Status[T]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	updated, stored := obj.(T), old.(T)
	s.Keep(updated, stored)
	metav1.ResetObjectMetaForStatus(updated, stored)
}

// ValidateUpdate accepts every status, because only the propagator may write one.
func (Status[T]) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// GetResetFields returns the fields that a write to the status does not change.
func (Status[T]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return ResetFields(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
}

// ResetFields returns the set of paths for all versions.
func ResetFields(paths ...fieldpath.Path) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet(paths...)
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(v1beta1.SchemeGroupVersion.String()):  set,
		fieldpath.APIVersion(v1alpha3.SchemeGroupVersion.String()): set,
		fieldpath.APIVersion(v1alpha2.SchemeGroupVersion.String()): set,
	}
}

// SetAnnotation sets an annotation that only the server writes, regardless of what the client has sent; "" removes it.
func SetAnnotation(obj *metav1.ObjectMeta, key, value string) {
	if value == "" {
		delete(obj.Annotations, key)
		return
	}
	metav1.SetMetaDataAnnotation(obj, key, value)
}

// SetGeneration sets the generation of an updated object, which counts the changes of its spec.
func SetGeneration(obj, old metav1.Object, spec, oldSpec any) {
	obj.SetGeneration(old.GetGeneration())
	if !apiequality.Semantic.DeepEqual(spec, oldSpec) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// FinishNothing is the FinishFunc of hooks that leave nothing to finish.
func FinishNothing(context.Context, bool) {}
