package mapping

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestNoFieldKeepsAForeignName looks for fields that are called namespace in the Go types, without the compiled table:
// after the translation, none contains a name that means another namespace in the view.
func TestNoFieldKeepsAForeignName(t *testing.T) {
	m := testMapper()
	foreign := map[string]bool{"acme": true, "acme-prod": true, "acme-x": true, "argocd": true, "acme-later": true}
	fields := 0
	var check func(t *testing.T, v reflect.Value)
	check = func(t *testing.T, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				check(t, v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				check(t, v.Index(i))
			}
		case reflect.Struct:
			model := ""
			if named, ok := v.Interface().(interface{ OpenAPIModelName() string }); ok {
				model = named.OpenAPIModelName()
			}
			for i := range v.NumField() {
				f := v.Type().Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if !f.IsExported() || leftAlone[model+"."+name] != "" || leftAlone[model+".*"] != "" {
					continue
				}
				if lower := strings.ToLower(name); strings.HasSuffix(lower, "namespace") || lower == "namespaces" {
					for _, s := range texts(v.Field(i)) {
						if fields++; foreign[s] {
							t.Errorf("%s.%s is %q", model, name, s)
						}
					}
				}
				check(t, v.Field(i))
			}
		}
	}
	eachKind(t, func(kind schema.GroupVersionKind, object runtime.Object) {
		t.Run(kind.String(), func(t *testing.T) {
			for seed := range int64(5) {
				random(seed).Fill(object)
				stored, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				shown, err := m.Object(Out, kind, stored)
				if err != nil {
					t.Fatal(err)
				}
				result, err := builtin().scheme.New(kind)
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(shown, result); err != nil {
					t.Fatal(err)
				}
				check(t, reflect.ValueOf(result))
				for key := range result.(metav1.Object).GetLabels() {
					if hasTreeLabels(kind.GroupKind()) && strings.HasPrefix(key, "acme") {
						t.Errorf("label %s", key)
					}
				}
			}
		})
	})
	if fields < 1000 {
		t.Errorf("only %d fields were looked at", fields)
	}
}

func texts(v reflect.Value) (found []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return texts(v.Elem())
		}
	case reflect.String:
		return []string{v.String()}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, texts(v.Index(i))...)
		}
	}
	return found
}

func TestManagedFieldsHaveNoManagedFields(t *testing.T) {
	// Each level would read all that is below it again.
	deep := `{"metadata":{"managedFields":[{"fieldsV1":` + strings.Repeat(`{"f:metadata":{"f:managedFields":{"i:0":{"f:fieldsV1":{"f:":`, 150) +
		`{"f:metadata":{"f:labels":{"f:default.tree.hnc.x-k8s.io/depth":{}}}}` + strings.Repeat("}}}}}", 150) + `}]}}`
	out, err := testMapper().Object(In, kindOf("v1", "Namespace"), []byte(deep))
	if err != nil || string(out) != deep {
		t.Errorf("%.200s, %v", out, err)
	}
}
