package tree

import (
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// chain returns a tree a <- b <- c.
func chain() *Tree {
	tree := New(managedkeys.Default())
	for _, name := range []string{"a", "b", "c"} {
		tree.SetNamespace(ns(name))
	}
	tree.SetHierarchy(hierarchy("b", "a"))
	tree.SetHierarchy(hierarchy("c", "b"))
	return tree
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

func TestAChangeAffectsTheSubtreeBelowIt(t *testing.T) {
	for name, test := range map[string]struct {
		change         func(*Tree) Affected
		moved, changed []string
	}{
		"nothing new": {func(t *Tree) Affected { return t.SetNamespace(ns("b")) }, nil, []string{"b"}},
		"a move": {
			func(t *Tree) Affected { return t.SetHierarchy(hierarchy("b", "x")) },
			[]string{"b", "c"}, []string{"a", "b", "x"},
		},
		"a parent vanishes": {
			func(t *Tree) Affected { return t.DeleteNamespace("a", "uid-a") },
			[]string{"a", "b", "c"}, []string{"a"},
		},
		"abstract ancestors": {
			func(t *Tree) Affected {
				h := hierarchy("a", "")
				h.Abstract = []string{"eng"}
				return t.SetHierarchy(h)
			},
			nil, []string{"a", "b", "c"},
		},
		"a namespace with the name of an abstract ancestor is created": {
			func(t *Tree) Affected {
				h := hierarchy("a", "")
				h.Abstract = []string{"eng"}
				t.SetHierarchy(h)
				return t.SetNamespace(ns("eng"))
			},
			[]string{"eng"}, []string{"a", "eng"},
		},
		"a namespace with the name of an earlier abstract ancestor is created": {
			func(t *Tree) Affected {
				h := hierarchy("a", "")
				h.Abstract = []string{"eng"}
				t.SetHierarchy(h)
				t.SetHierarchy(hierarchy("a", ""))
				return t.SetNamespace(ns("eng"))
			},
			[]string{"eng"}, []string{"eng"},
		},
		"another namespace of that name vanished": {func(t *Tree) Affected { return t.DeleteNamespace("a", "uid-x") }, nil, nil},
		"a leaf is created": {
			func(t *Tree) Affected {
				t.SetSubnamespace(record("c", "d"))
				return t.SetNamespace(ns("d", subOf("c")))
			},
			[]string{"d"}, []string{"c", "d"},
		},
		"a cycle is closed": {
			func(t *Tree) Affected { return t.SetHierarchy(hierarchy("a", "c")) },
			[]string{"a", "b", "c"}, []string{"a", "c"},
		},
		"a cycle is opened": {
			func(t *Tree) Affected {
				t.SetHierarchy(hierarchy("a", "c"))
				return t.SetHierarchy(hierarchy("b", ""))
			},
			[]string{"a", "b", "c"}, []string{"a", "b"},
		},
		"cascading deletion is allowed": {
			func(t *Tree) Affected {
				h := hierarchy("a", "")
				h.Cascading = true
				return t.SetHierarchy(h)
			},
			nil, []string{"a", "b", "c"},
		},
		"the hierarchy of a terminating sub-namespace is deleted": {
			func(t *Tree) Affected {
				t.SetSubnamespace(record("c", "d"))
				t.SetNamespace(ns("d", subOf("c")))
				t.SetHierarchy(hierarchy("d", "c"))
				t.SetNamespace(ns("d", subOf("c"), terminating))
				return t.DeleteHierarchy("d", "h-d")
			},
			nil, []string{"c", "d"},
		},
		"a sub-namespace is asked for": {
			func(t *Tree) Affected { return t.SetSubnamespace(record("c", "d")) },
			[]string{"d"}, []string{"c", "d"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			affected := test.change(chain())
			if got := sorted(affected.Moved); !slices.Equal(got, test.moved) {
				t.Errorf("moved %v, want %v", got, test.moved)
			}
			if got := sorted(affected.Changed); !slices.Equal(got, test.changed) {
				t.Errorf("changed %v, want %v", got, test.changed)
			}
		})
	}
}

func TestASubnamespaceHearsOfItsNamespaceAndOfItsParent(t *testing.T) {
	tree := New(managedkeys.Rules{})
	tree.SetNamespace(ns("p"))
	tree.SetSubnamespace(record("p", "c"))
	want := Key{"p", "c"}
	for _, step := range []struct {
		name   string
		change func() Affected
	}{
		{"created", func() Affected { return tree.SetNamespace(ns("c", subOf("p"))) }},
		{"terminates", func() Affected { return tree.SetNamespace(ns("c", subOf("p"), terminating)) }},
		{"is gone", func() Affected { return tree.DeleteNamespace("c", "uid-c") }},
		{"parent terminates", func() Affected { return tree.SetNamespace(ns("p", terminating)) }},
	} {
		if affected := step.change(); !slices.Contains(affected.Subnamespaces, want) {
			t.Errorf("%s: %v does not contain %v", step.name, affected.Subnamespaces, want)
		}
	}
}

// The label of a terminating namespace counts from when its Hierarchy is gone: what is below it may be deleted then.
func TestTheEndOfAHierarchyAffectsWhatIsBelowATerminatingNamespace(t *testing.T) {
	tree := chain()
	tree.SetHierarchy(hierarchy("a", ""))
	tree.SetNamespace(ns("a", terminating, func(n *Namespace) {
		n.Labels = map[string]string{hnc.LabelCascadingDeletion: hnc.CascadingAllowed}
	}))
	if affected := tree.DeleteHierarchy("a", tree.Hierarchy("a").UID); !slices.Contains(affected.Changed, "c") {
		t.Errorf("affected %+v", affected)
	}
}
