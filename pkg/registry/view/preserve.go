package view

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

// Preserve returns a transformation for updates in a version that cannot represent all fields of the hub: what the client
// could not see of the stored object is taken over from it. What the client could see is as the client says.
func Preserve(convertor runtime.ObjectConvertor, version schema.GroupVersion) rest.TransformFunc {
	return func(_ context.Context, updated, stored runtime.Object) (runtime.Object, error) {
		versioned, err := convertor.ConvertToVersion(stored, version)
		if err != nil {
			return nil, fmt.Errorf("convert the stored object to %s: %w", version, err)
		}
		seen, err := convertor.ConvertToVersion(versioned, hnc.SchemeGroupVersion)
		if err != nil {
			return nil, fmt.Errorf("convert the stored object from %s: %w", version, err)
		}
		for _, name := range []string{"Spec", "Status"} {
			field := func(obj runtime.Object) reflect.Value { return reflect.ValueOf(obj).Elem().FieldByName(name) }
			preserve(field(updated), field(stored), field(seen))
		}
		return updated, nil
	}
}

// preserve sets in updated what stored has and seen, the part of stored that the client could see, lacks. Fields are
// compared one by one; items of a list are matched by their keys, so that an item that the client has changed keeps what
// is hidden of it, and one that it has removed is gone.
func preserve(updated, stored, seen reflect.Value) {
	if apiequality.Semantic.DeepEqual(stored.Interface(), seen.Interface()) {
		return
	}
	switch {
	case transparent(stored.Type()):
		for i := range stored.NumField() {
			preserve(updated.Field(i), stored.Field(i), seen.Field(i))
		}
	case stored.Kind() == reflect.Pointer && !stored.IsNil() && !seen.IsNil():
		// A client that has taken away what it could see takes what is hidden of it, too.
		if !updated.IsNil() {
			preserve(updated.Elem(), stored.Elem(), seen.Elem())
		}
	case stored.Kind() == reflect.Slice && key(reflect.Zero(stored.Type().Elem())) != nil:
		preserveItems(updated, stored, seen)
	default:
		updated.Set(stored)
	}
}

// transparent reports whether a type is a struct whose fields can be set one by one.
func transparent(t reflect.Type) bool {
	return t.Kind() == reflect.Struct &&
		!slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return !f.IsExported() })
}

// preserveItems is preserve for a list whose items have keys. The client's order holds; items that it could not see get
// their old places.
func preserveItems(updated, stored, seen reflect.Value) {
	items := elements(updated)
	for i, item := range elements(stored) {
		here, visible := find(items, key(item)), find(elements(seen), key(item))
		switch {
		case !visible.IsValid() && !here.IsValid():
			items = slices.Insert(items, min(i, len(items)), item)
		case visible.IsValid() && here.IsValid():
			preserve(here, item, visible)
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

// find returns the item that has the key, or the zero Value.
func find(items []reflect.Value, k any) reflect.Value {
	if i := slices.IndexFunc(items, func(item reflect.Value) bool { return key(item) == k }); i >= 0 {
		return items[i]
	}
	return reflect.Value{}
}

// key returns what tells an item of a list from the others, nil for types that are not items of keyed lists.
func key(item reflect.Value) any {
	switch item := item.Interface().(type) {
	case hnc.MetaKVP:
		return item.Key
	case hnc.ResourceSpec:
		return schema.GroupResource{Group: item.Group, Resource: item.Resource}
	case hnc.ResourceStatus:
		return schema.GroupVersionResource{Group: item.Group, Version: item.Version, Resource: item.Resource}
	case metav1.Condition:
		return [2]string{item.Type, item.Reason}
	}
	return nil
}
