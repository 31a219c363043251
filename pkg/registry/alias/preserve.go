package alias

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Preserve returns a transformation for updates in a version that cannot represent all fields of the internal version.
// Fields that the version cannot represent keep their stored values; all others get the client's.
func Preserve(convertor runtime.ObjectConvertor, version schema.GroupVersion) rest.TransformFunc {
	return func(_ context.Context, updated, stored runtime.Object) (runtime.Object, error) {
		versioned, err := convertor.ConvertToVersion(stored, version)
		if err != nil {
			return nil, fmt.Errorf("convert the stored object to %s: %w", version, err)
		}
		visible, err := convertor.ConvertToVersion(versioned, hnc.SchemeGroupVersion)
		if err != nil {
			return nil, fmt.Errorf("convert the stored object from %s: %w", version, err)
		}
		for _, name := range []string{"Spec", "Status"} {
			field := func(obj runtime.Object) reflect.Value { return reflect.ValueOf(obj).Elem().FieldByName(name) }
			preserve(field(updated), field(stored), field(visible))
		}
		return updated, nil
	}
}

// preserve sets in updated what stored contains and visible, the part of stored that the version represents, does not.
// It compares field by field and matches the items of lists by their keys: an item that the client has changed keeps
// its hidden fields, and an item that the client has removed stays removed.
func preserve(updated, stored, visible reflect.Value) {
	if apiequality.Semantic.DeepEqual(stored.Interface(), visible.Interface()) {
		return
	}
	switch {
	case transparent(stored.Type()):
		for i := range stored.NumField() {
			preserve(updated.Field(i), stored.Field(i), visible.Field(i))
		}
	case stored.Kind() == reflect.Pointer && !stored.IsNil() && !visible.IsNil():
		// A client that removes the visible part removes the hidden fields with it.
		if !updated.IsNil() {
			preserve(updated.Elem(), stored.Elem(), visible.Elem())
		}
	case stored.Kind() == reflect.Slice && key(reflect.Zero(stored.Type().Elem())) != nil:
		preserveItems(updated, stored, visible)
	default:
		updated.Set(stored)
	}
}

// transparent reports whether a type is a struct whose fields can be set one by one.
func transparent(t reflect.Type) bool {
	return t.Kind() == reflect.Struct &&
		!slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return !f.IsExported() })
}

// preserveItems is preserve for a list whose items have keys. The client determines the order; hidden items keep their
// positions.
func preserveItems(updated, stored, visible reflect.Value) {
	items := elements(updated)
	for i, item := range elements(stored) {
		kept, seen := find(items, key(item)), find(elements(visible), key(item))
		switch {
		case !seen.IsValid() && !kept.IsValid():
			items = slices.Insert(items, min(i, len(items)), item)
		case seen.IsValid() && kept.IsValid():
			preserve(kept, item, seen)
		}
	}
	if len(items) > updated.Len() {
		updated.Set(reflect.Append(reflect.MakeSlice(updated.Type(), 0, len(items)), items...))
	}
}

func elements(list reflect.Value) []reflect.Value {
	items := make([]reflect.Value, list.Len())
	for i := range items {
		items[i] = list.Index(i)
	}
	return items
}

// find returns the item with a key, or the zero Value.
func find(items []reflect.Value, k any) reflect.Value {
	if i := slices.IndexFunc(items, func(item reflect.Value) bool { return key(item) == k }); i >= 0 {
		return items[i]
	}
	return reflect.Value{}
}

// key returns the key of an item in its list, nil for types that are not items of keyed lists.
func key(item reflect.Value) any {
	switch item := item.Interface().(type) {
	case hnc.MetaKVP:
		return item.Key
	case hnc.ResourceSpec:
		return schema.GroupResource{Group: item.Group, Resource: item.Resource}
	case hnc.ResourceStatus:
		return schema.GroupVersionResource{Group: item.Group, Version: item.Version, Resource: item.Resource}
	case metav1.Condition:
		return item.Type
	case hnc.Problem:
		return [2]string{item.Type, item.Reason}
	}
	return nil
}
