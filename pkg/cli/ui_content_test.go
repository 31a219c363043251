package cli

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func secret(namespace, a, b string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": a, "b": b},
		"metadata": map[string]any{"name": "s", "namespace": namespace, "uid": namespace, "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": a + b,
		}},
	}}
}

func TestThePageNeverReceivesTheDataOfSecrets(t *testing.T) {
	source, here := secret("acme", "first", "same"), secret("team-a", "second", "same")
	difference := differenceOf(source, here)
	hide(here, nil)
	clean(here)
	text, err := yaml.Marshal(here.Object)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"first", "second", "same"} {
		if strings.Contains(difference, value) || strings.Contains(string(text), value) {
			t.Errorf("the value %s is not hidden in:\n%s\n%s", value, difference, text)
		}
	}
	want := "--- before\n+++ here\n@@ -1,6 +1,6 @@\n apiVersion: v1\n data:\n-  a: (hidden)\n+  a: (hidden, and different)\n   b: (hidden)\n kind: Secret\n metadata:\n"
	if difference != want {
		t.Errorf("got the difference:\n%s\nwant:\n%s", difference, want)
	}
	overwritten := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hnc.x-k8s.io/v1alpha3", "kind": "OverwrittenObject", "spec": map[string]any{"manifest": "first"},
	}}
	hide(overwritten, nil)
	if manifest, _, _ := unstructured.NestedString(overwritten.Object, "spec", "manifest"); manifest != hiddenValue {
		t.Errorf("the manifest of an overwritten object is %q", manifest)
	}
}
