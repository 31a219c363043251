package tree

import (
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

func TestCascadingDeletionIsAllowedByAnyAncestorAndRememberedByTerminatingOnes(t *testing.T) {
	tree := chain()
	if tree.CascadingAllowed("c") {
		t.Error("allowed by nobody")
	}
	h := hierarchy("a", "")
	h.Cascading = true
	tree.SetHierarchy(h)
	if !tree.CascadingAllowed("c") {
		t.Error("not allowed although the root allows it")
	}
	tree.SetNamespace(ns("a", terminating, func(n *Namespace) {
		n.Labels = map[string]string{hnc.LabelCascadingDeletion: hnc.CascadingAllowed}
	}))
	tree.DeleteHierarchy("a", h.UID)
	if !tree.CascadingAllowed("c") {
		t.Error("forgotten when the terminating root's hierarchy was deleted")
	}
}

// The label of a revoked permission may be late, also when the namespace is deleted.
func TestALabelIsNoPermissionBesideAHierarchy(t *testing.T) {
	labeled := func(n *Namespace) { n.Labels = map[string]string{hnc.LabelCascadingDeletion: hnc.CascadingAllowed} }
	for name, test := range map[string]struct {
		gone    func(*Tree)
		allowed bool
	}{
		"both are there":        {func(*Tree) {}, false},
		"its Hierarchy is gone": {func(t *Tree) { t.DeleteHierarchy("b", t.Hierarchy("b").UID) }, true},
		"its parent is gone":    {func(t *Tree) { t.DeleteNamespace("a", "uid-a") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			tree := chain()
			tree.SetNamespace(ns("b", labeled, terminating))
			test.gone(tree)
			if got := tree.CascadingAllowed("c"); got != test.allowed {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestCascadingDeletionIsAllowedByTheHierarchyOrByTheLabelInItsStead(t *testing.T) {
	labeled := func(n *Namespace) { n.Labels = map[string]string{hnc.LabelCascadingDeletion: hnc.CascadingAllowed} }
	denies := hierarchy("n", "p")
	allows, earlier := *denies, *denies
	allows.Cascading, earlier.Cascading, earlier.Owner = true, true, "earlier"
	for name, test := range map[string]struct {
		namespace  *Namespace
		hierarchy  *Hierarchy
		parentGone bool
		want       bool
	}{
		"nothing exists":                       {nil, nil, false, false},
		"a Hierarchy without a namespace":      {nil, &allows, false, false},
		"nothing allows it":                    {ns("n"), nil, false, false},
		"its Hierarchy denies it":              {ns("n"), denies, false, false},
		"its Hierarchy allows it":              {ns("n"), &allows, false, true},
		"that of an earlier namespace does":    {ns("n"), &earlier, false, false},
		"labeled, and it stays":                {ns("n", labeled), nil, true, false},
		"recorded, and its Hierarchy is gone":  {ns("n", labeled, terminating), nil, false, true},
		"recorded, beside an earlier one's":    {ns("n", labeled, terminating), &earlier, false, true},
		"recorded, and its Hierarchy denies":   {ns("n", labeled, terminating), denies, false, false},
		"the same, and the parent is gone":     {ns("n", labeled, terminating), denies, true, true},
		"not recorded, and the parent is gone": {ns("n", terminating), denies, true, false},
	} {
		if got := test.namespace.AllowsCascading(test.hierarchy, test.parentGone); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestNothingIsWrittenWhereActivitiesAreHaltedOrAnAncestorTerminates(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Tree)
		frozen []string
	}{
		"all is well":            {func(*Tree) {}, nil},
		"the root terminates":    {func(t *Tree) { t.SetNamespace(ns("a", terminating)) }, []string{"a", "b", "c"}},
		"the root is missing":    {func(t *Tree) { t.DeleteNamespace("a", "uid-a") }, []string{"a", "b", "c"}},
		"a leaf terminates":      {func(t *Tree) { t.SetNamespace(ns("c", terminating)) }, []string{"c"}},
		"they are in a cycle":    {func(t *Tree) { t.SetHierarchy(hierarchy("a", "c")) }, []string{"a", "b", "c"}},
		"the parent is excluded": {func(t *Tree) { t.SetHierarchy(hierarchy("b", "kube-system")) }, []string{"b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := chain()
			test.change(tree)
			var frozen []string
			for _, name := range []string{"a", "b", "c"} {
				if tree.Frozen(name) {
					frozen = append(frozen, name)
				}
			}
			if !slices.Equal(frozen, test.frozen) {
				t.Errorf("frozen %v, want %v", frozen, test.frozen)
			}
		})
	}
}

// Kubernetes deletes the records of a terminating namespace before the namespace, which a tenant's finalizer keeps for
// as long as they like.
func TestATerminatingNamespaceStaysBelowItsParent(t *testing.T) {
	labeled := func(n *Namespace) { n.Labels = map[string]string{hnc.TreeLabel("a"): "1", hnc.TreeLabel("b"): "0"} }
	tree := chain()
	tree.SetNamespace(ns("b", labeled, terminating))
	tree.DeleteHierarchy("b", tree.Hierarchy("b").UID)
	if tree.Parent("b") != "a" || !slices.Equal(tree.Ancestors("c"), []string{"a", "b"}) {
		t.Errorf("the parent of b is %q, and above c are %v", tree.Parent("b"), tree.Ancestors("c"))
	}
	if tree.Halted("b") || tree.Halted("c") || !tree.Goes("b") || !tree.Goes("c") || tree.Goes("a") {
		t.Error("b and c do not follow what is withdrawn in a")
	}
	if tree.DeleteNamespace("b", "uid-b"); !tree.Halted("c") {
		t.Error("c is not halted although its parent is gone")
	}
	tree = chain()
	tree.SetNamespace(ns("b", labeled))
	tree.DeleteHierarchy("b", tree.Hierarchy("b").UID)
	if tree.Parent("b") != "" {
		t.Errorf("the labels of an active namespace make it a child of %q", tree.Parent("b"))
	}
}

// Removing the Subnamespace of a sub-namespace makes no room for another one.
func TestNamespacesCountAsLongAsTheyAreBelow(t *testing.T) {
	tree := New(managedkeys.Default())
	tree.SetNamespace(ns("p"))
	for i, step := range []struct {
		change func() Affected
		want   int
	}{
		{func() Affected { return tree.SetSubnamespace(record("p", "c")) }, 1},
		{func() Affected { return tree.SetNamespace(ns("c", subOf("p"))) }, 1},
		{func() Affected { return tree.SetHierarchy(hierarchy("c", "p")) }, 1},
		{func() Affected { return tree.DeleteSubnamespace(Key{"p", "c"}, "s-c") }, 1},
		{func() Affected { return tree.SetNamespace(ns("c")) }, 1},
		{func() Affected { return tree.SetNamespace(ns("c", subOf("p"))) }, 1},
		{func() Affected { return tree.SetNamespace(ns("d")) }, 1},
		{func() Affected { return tree.SetHierarchy(hierarchy("d", "p")) }, 2},
		{func() Affected { return tree.SetHierarchy(hierarchy("d", "")) }, 1},
		{func() Affected { return tree.SetNamespace(ns("c", subOf("p"), terminating)) }, 0},
	} {
		before := tree.Claims("p")
		affected := step.change()
		if got := tree.Claims("p"); got != step.want || got != before && !slices.Contains(affected.Changed, "p") {
			t.Errorf("step %d: %d sub-namespaces, want %d; affected %+v", i, got, step.want, affected)
		}
	}
}
