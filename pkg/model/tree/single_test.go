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
