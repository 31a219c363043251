package tree_test

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

// TestParentByRecordsFollowsTheRulesOfTheTree has records that the cache does not contain yet, with and without effect.
func TestParentByRecordsFollowsTheRulesOfTheTree(t *testing.T) {
	key := tree.Key{Parent: "a", Name: "b"}
	for name, test := range map[string]struct {
		h      *tree.Hierarchy
		s      *tree.Subnamespace
		change func(ns *tree.Namespace)
		want   string
	}{
		"nothing":                                   {},
		"a Hierarchy":                               {h: &tree.Hierarchy{Parent: "a", Owner: "uid-b"}, want: "a"},
		"a Hierarchy that names another parent":     {h: &tree.Hierarchy{Parent: "c"}, s: &tree.Subnamespace{}, want: "c"},
		"a Hierarchy of an earlier namespace":       {h: &tree.Hierarchy{Parent: "a", Owner: "earlier"}},
		"a Subnamespace":                            {s: &tree.Subnamespace{Owner: "uid-a"}, want: "a"},
		"a void Subnamespace":                       {s: &tree.Subnamespace{Void: true}},
		"a Subnamespace of an earlier parent":       {s: &tree.Subnamespace{Owner: "earlier"}},
		"a Subnamespace that is not the annotation": {s: &tree.Subnamespace{}, change: func(ns *tree.Namespace) { ns.SubnamespaceOf = "" }},
		"an external namespace":                     {s: &tree.Subnamespace{}, change: func(ns *tree.Namespace) { ns.ManagedBy = "other" }},
		"annotated as external, with a Hierarchy":   {h: &tree.Hierarchy{Parent: "a"}, change: func(ns *tree.Namespace) { ns.ManagedBy = "other" }, want: "a"},
	} {
		known := tree.New(treetest.Rules())
		known.SetNamespace(&tree.Namespace{Name: "a", UID: "uid-a"})
		b := &tree.Namespace{Name: "b", UID: "uid-b", SubnamespaceOf: "a"}
		if test.change != nil {
			test.change(b)
		}
		known.SetNamespace(b)
		if test.h != nil {
			test.h.Namespace = "b"
		}
		if test.s != nil {
			test.s.Key = key
		}
		if got := known.ParentBy("b", "a", test.h, test.s); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if known.Parent("b") != "" {
			t.Errorf("%s: the tree itself has changed", name)
		}
	}
}

// TestParentWithAnotherHierarchyIsThatOfATreeThatHasIt changes the Hierarchies of random trees.
func TestParentWithAnotherHierarchyIsThatOfATreeThatHasIt(t *testing.T) {
	known := tree.New(treetest.Rules())
	random := treetest.NewRandom(known, 1)
	for step := range 3000 {
		random.Change()
		name, h := treetest.Names[step%len(treetest.Names)], &tree.Hierarchy{}
		old := known.HierarchyRecord(name)
		if old != nil {
			*h = *old
		}
		h.Namespace, h.ResourceVersion, h.Parent = name, treetest.Next(), []string{"", "a", "b"}[random.IntN(3)]
		got, none := known.ParentWith(name, h), known.ParentWith(name, nil)
		if known.SetHierarchy(h); known.Parent(name) != got {
			t.Fatalf("step %d: with %+v, the parent of %s is %q, want %q", step, h, name, got, known.Parent(name))
		}
		if known.DeleteHierarchy(name, h.UID); known.Parent(name) != none {
			t.Fatalf("step %d: without a Hierarchy, the parent of %s is %q, want %q", step, name, none, known.Parent(name))
		}
		if old != nil {
			again := *old
			again.ResourceVersion = treetest.Next()
			known.SetHierarchy(&again)
		}
	}
}
