package migration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What hns-apiserver rejects may be left out, except for parents.
func TestParentsAreServed(t *testing.T) {
	out := &strings.Builder{}
	m := &Migration{
		Options: Options{Out: out, SkipRejected: true}, clients: fakeClients(t),
		export: &export{
			Items:      []*unstructured.Unstructured{child("a", "acme"), child("acme", "")},
			Namespaces: []namespace{{Name: "acme"}, {Name: "a"}},
		},
	}
	if err := m.verify(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "differs from the export:\n  hierarchyconfigurations a/hierarchy is missing") {
		t.Errorf("got %v", err)
	}
	if want := "Not served, because they were left out:\n  hierarchyconfigurations acme/hierarchy\n"; out.String() != want {
		t.Errorf("got %q", out)
	}
}
