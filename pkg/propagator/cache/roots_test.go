package cache

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestRootOfANamespaceFollowsItsMoves(t *testing.T) {
	w := treetest.New()
	r := newRoots()
	s := newState(w, r)
	exists := func(names ...string) {
		for _, name := range names {
			s.affect(w.SetNamespace(&tree.Namespace{Name: name, ResourceVersion: treetest.Next()}))
		}
	}
	parent := func(name, parent string) {
		h := treetest.Hierarchy(w, name)
		h.Parent = parent
		s.affect(w.SetHierarchy(h))
	}
	want := func(what, namespace, root string) {
		t.Helper()
		if got := r.of(namespace); got != root {
			t.Errorf("%s: root of %s is %s, want %s", what, namespace, got, root)
		}
	}
	exists("root", "mid", "leaf", "other", "below")
	parent("mid", "root")
	parent("leaf", "mid")
	parent("below", "other")
	want("at first", "root", "root")
	want("at first", "leaf", "root")
	want("at first", "below", "other")
	parent("mid", "below")
	want("after its parent's move", "leaf", "other")
	parent("mid", "")
	want("below a root", "leaf", "mid")
	want("a root", "mid", "mid")
	parent("other", "leaf")
	want("after the reverse move", "below", "mid")
	if _, ok := r.above["mid"]; ok {
		t.Error("a root is remembered")
	}
}
