package wire

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// newer are objects in v1beta1 with fields that v1alpha2 does not have, and what a client of v1alpha2 changes in them.
var newer = []struct {
	resource, older, namespace, name string
	// spec is what is stored, change a merge patch of a client of v1alpha2, and want what is stored then.
	spec, change, want string
}{
	{
		resource: "hierarchies", older: "hierarchyconfigurations", namespace: "kept", name: "hierarchy",
		spec: `{"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}],
			"requiredChildren":["kept-child"],"propagation":[{"group":"","resource":"secrets","mode":"Propagate","onConflict":"Keep"}]}`,
		change: `{"allowCascadingDeletion":true}`,
		want: `{"allowCascadingDeletion":true,
			"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}],
			"requiredChildren":["kept-child"],"propagation":[{"resource":"secrets","mode":"Propagate","onConflict":"Keep"}]}`,
	},
	{
		resource: "subnamespaces", older: "subnamespaceanchors", namespace: "kept", name: "kept-sub",
		spec:   `{"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}]}`,
		change: `{"labels":[{"key":"managed.example/c","value":"3"}]}`,
		want: `{"labels":[{"key":"managed.example/c","value":"3"}],
			"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}]}`,
	},
	{
		resource: "hncconfigurations", older: "hncconfigurations", name: "config",
		spec:   `{"creatorRole":"view","resources":[{"resource":"secrets","mode":"AllowPropagate","onConflict":"Keep"}]}`,
		change: `{"resources":[{"resource":"configmaps","mode":"Ignore"},{"resource":"secrets","mode":"Remove"}]}`,
		want:   `{"creatorRole":"view","resources":[{"resource":"configmaps","mode":"Ignore"},{"resource":"secrets","mode":"Remove","onConflict":"Keep"}]}`,
	},
}

func TestFieldsThatHNCDoesNotKnowSurviveItsClients(t *testing.T) {
	if _, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range newer {
		at := func(version, resource string) dynamic.ResourceInterface {
			r := client.Resource(schema.GroupVersionResource{Group: "hnc.x-k8s.io", Version: version, Resource: resource})
			if n.namespace == "" {
				return r
			}
			return r.Namespace(n.namespace)
		}
		present, old := at("v1beta1", n.resource), at("v1alpha2", n.older)
		writes := map[string]func(*testing.T, *unstructured.Unstructured) error{
			"PUT": func(t *testing.T, u *unstructured.Unstructured) error {
				spec, _, _ := unstructured.NestedMap(u.Object, "spec")
				for field, value := range fields(t, n.change) {
					if spec == nil {
						spec = map[string]any{}
					}
					spec[field] = value
				}
				u.Object["spec"] = spec
				_, err := old.Update(t.Context(), u, metav1.UpdateOptions{})
				return err
			},
			"merge patch": func(t *testing.T, _ *unstructured.Unstructured) error {
				_, err := old.Patch(t.Context(), n.name, types.MergePatchType, []byte(`{"spec":`+n.change+`}`), metav1.PatchOptions{})
				return err
			},
			"JSON patch": func(t *testing.T, _ *unstructured.Unstructured) error {
				_, err := old.Patch(t.Context(), n.name, types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec","value":`+n.change+`}]`), metav1.PatchOptions{})
				return err
			},
			"apply": func(t *testing.T, u *unstructured.Unstructured) error {
				applied := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}, "spec": map[string]any(fields(t, n.change))}}
				applied.SetGroupVersionKind(u.GroupVersionKind())
				_, err := old.Apply(t.Context(), n.name, applied, metav1.ApplyOptions{FieldManager: "old", Force: true})
				return err
			},
		}
		for name, write := range writes {
			t.Run(n.older+" "+name, func(t *testing.T) {
				stored := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any(fields(t, n.spec))}}
				stored.SetGroupVersionKind(schema.GroupVersionKind{Group: "hnc.x-k8s.io", Version: "v1beta1", Kind: kinds[n.resource]})
				if _, err := present.Apply(t.Context(), n.name, stored, metav1.ApplyOptions{FieldManager: "new", Force: true}); err != nil {
					t.Fatal(err)
				}
				seen, err := old.Get(t.Context(), n.name, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for field := range fields(t, n.spec) {
					if _, found, _ := unstructured.NestedFieldNoCopy(seen.Object, "spec", field); found && field != "resources" {
						t.Errorf("v1alpha2 shows %s", field)
					}
				}
				if err := write(t, seen); err != nil {
					t.Fatal(err)
				}
				got, err := present.Get(t.Context(), n.name, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(fields(t, n.want), fields(t, text(t, got.Object["spec"]))); diff != "" {
					t.Error(diff)
				}
				if i := slices.IndexFunc(got.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Manager == "new" }); i < 0 {
					t.Errorf("the manager of the fields that v1alpha2 does not have is gone: %v", got.GetManagedFields())
				}
				// The next round begins with what it applies alone.
				if _, err := present.Patch(t.Context(), n.name, types.MergePatchType,
					[]byte(`{"metadata":{"managedFields":[{}]},"spec":{"labels":null,"allowCascadingDeletion":null,"resources":null}}`), metav1.PatchOptions{}); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

var kinds = map[string]string{"hierarchies": "Hierarchy", "subnamespaces": "Subnamespace", "hncconfigurations": "HNCConfiguration"}

func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func text(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
