package install

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/besidehnc"
)

// The chart is rejected with a value of besideHNC that would leave hierarchies without the admission policies, or put
// the policies in the way of HNC.
func TestChartKnowsWhoServesTheHierarchies(t *testing.T) {
	ctx := t.Context()
	namespaces := admin.CoreV1().Namespaces()
	if _, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hnc.SystemNamespace}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	propagated := func(store string) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, hnc.AnnotationStore, store)
		if _, err := namespaces.Patch(ctx, hnc.SystemNamespace, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	defer propagated("null")
	definitions := admin.Dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	defer func() {
		if err := definitions.Delete(ctx, besidehnc.Definition, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}()
	for _, test := range []struct {
		name                    string
		propagated, definitions bool
		// rejected says which value the chart rejects, and want what it says.
		rejected, want string
	}{
		{name: "a new cluster"},
		{"hns serves them", true, false, "true", "set besideHNC=false"},
		{"HNC serves them", false, true, "false", "set besideHNC=true until kubectl hns migrate asks for the policies"},
		{"HNC's definitions are leftovers", true, true, "true", "set besideHNC=false"},
	} {
		store := "null"
		if test.propagated {
			store = `"some"`
		}
		propagated(store)
		if test.definitions {
			if _, err := definitions.Create(ctx, definition(), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
		}
		for _, value := range []string{"true", "false"} {
			_, err := command(t, "helm", "install", "hns", chart, "--namespace=hns-system", "--dry-run=server", "--hide-notes", "--set=besideHNC="+value)
			switch {
			case value != test.rejected && err != nil && strings.Contains(err.Error(), "besideHNC: "):
				t.Errorf("%s, besideHNC=%s: %v", test.name, value, err)
			case value == test.rejected && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%s, besideHNC=%s: got %v, want %q", test.name, value, err, test.want)
			}
		}
	}
}

// definition returns that of HNC's hierarchies.
func definition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": besidehnc.Definition, "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a test"}},
		"spec": map[string]any{
			"group": hnc.GroupName, "scope": "Namespaced",
			"names": map[string]any{"kind": "HierarchyConfiguration", "plural": "hierarchyconfigurations", "singular": "hierarchyconfiguration"},
			"versions": []any{map[string]any{"name": "v1alpha2", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}}
}
