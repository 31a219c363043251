package treerules

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// subtree returns the nodes below a namespace, each as name(parent)depth, those that are missing with a question mark.
func (f *fixture) subtree(t *testing.T, name string) string {
	t.Helper()
	var nodes []string
	for _, node := range f.Index.Subtree(f.existing(t, name)) {
		s := fmt.Sprintf("%s(%s)%d", node.Name, node.Parent, node.Depth)
		if node.Namespace == nil {
			s += "?"
		}
		nodes = append(nodes, s)
	}
	return strings.Join(nodes, " ")
}

func TestSubtreeContainsAllDescendants(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "a": "root", "b": "root", "sub-a": "a", "gone": "b", "other": ""})
	for name, want := range map[string]string{
		"root":  "root()0 a(root)1 sub-a(a)2 b(root)1 gone(b)2?",
		"a":     "a(root)0 sub-a(a)1",
		"other": "other()0",
	} {
		if got := f.subtree(t, name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestSubtreeEndsAtEdgesThatAreNotEffective(t *testing.T) {
	for what, change := range map[string]func(a *corev1.Namespace){
		"re-created": func(a *corev1.Namespace) { a.UID = "another" },
	} {
		f := newFixture(t, map[string]string{"root": "", "a": "root", "b": "a"})
		a := f.existing(t, "a").DeepCopy()
		change(a)
		if err := f.indexer.Update(a); err != nil {
			t.Fatal(err)
		}
		if got := f.subtree(t, "root"); got != "root()0" {
			t.Errorf("%s: the tree of root is %s", what, got)
		}
		if got := f.subtree(t, "a"); got != "a()0 b(a)1" {
			t.Errorf("%s: the tree of a is %s", what, got)
		}
	}
}

// Its parent was authorized; who may annotate the namespace alone does not take it out of the tree.
func TestAnAnnotationDoesNotEndASubtree(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "a": "root", "b": "a"})
	a := f.existing(t, "a").DeepCopy()
	a.Annotations = map[string]string{hnc.AnnotationManagedBy: "somebody"}
	if err := f.indexer.Update(a); err != nil {
		t.Fatal(err)
	}
	if got := f.subtree(t, "root"); got != "root()0 a(root)1 b(a)2" {
		t.Errorf("the tree of root is %s", got)
	}
}

// A claim of its name does not capture a namespace.
func TestSubnamespaceHoldsOnlyItsSubNamespace(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "sub-a": "root", "full": ""})
	f.stored.put(t, "full", edgeValue{Parent: "root", Subnamespace: uid("root")})
	f.sync(t)
	if got := f.subtree(t, "root"); got != "root()0 sub-a(root)1" {
		t.Errorf("got %s", got)
	}
}
