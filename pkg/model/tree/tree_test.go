package tree

import (
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

var version int

func next() string {
	version++
	return strconv.Itoa(version)
}

func ns(name string, options ...func(*Namespace)) *Namespace {
	n := &Namespace{Name: name, UID: types.UID("uid-" + name), ResourceVersion: next()}
	for _, o := range options {
		o(n)
	}
	return n
}

func subOf(parent string) func(*Namespace) { return func(n *Namespace) { n.SubnamespaceOf = parent } }
func terminating(n *Namespace)             { n.Terminating = true }
func reborn(n *Namespace)                  { n.UID += "-again" }

func hierarchy(namespace, parent string) *Hierarchy {
	return &Hierarchy{Namespace: namespace, UID: types.UID("h-" + namespace), ResourceVersion: next(), Parent: parent}
}

func record(parent, name string) *Subnamespace {
	return &Subnamespace{Key: Key{parent, name}, UID: types.UID("s-" + name), ResourceVersion: next()}
}

func TestTheEffectiveParentIsThatOfTheHierarchyAndElseThatOfTheSubnamespace(t *testing.T) {
	for name, test := range map[string]struct {
		given func(*Tree)
		want  string
	}{
		"nobody says anything": {func(t *Tree) { t.SetNamespace(ns("c")) }, ""},
		"the hierarchy names one": {func(t *Tree) {
			t.SetNamespace(ns("c"))
			t.SetHierarchy(hierarchy("c", "p"))
		}, "p"},
		"the hierarchy is older news than the namespace": {func(t *Tree) {
			t.SetHierarchy(hierarchy("c", "p"))
			t.SetNamespace(ns("c"))
		}, "p"},
		"the hierarchy belongs to an earlier namespace": {func(t *Tree) {
			h := hierarchy("c", "p")
			h.Owner = "uid-c-before"
			t.SetHierarchy(h)
			t.SetNamespace(ns("c"))
		}, ""},
		"the namespace is born again": {func(t *Tree) {
			h := hierarchy("c", "p")
			h.Owner = "uid-c"
			t.SetHierarchy(h)
			t.SetNamespace(ns("c"))
			t.SetNamespace(ns("c", reborn))
		}, ""},
		"the hierarchy wins": {func(t *Tree) {
			t.SetNamespace(ns("c", subOf("p")))
			t.SetSubnamespace(record("p", "c"))
			t.SetHierarchy(hierarchy("c", "other"))
		}, "other"},
		"the hierarchy has no parent": {func(t *Tree) {
			t.SetNamespace(ns("c", subOf("p")))
			t.SetSubnamespace(record("p", "c"))
			t.SetHierarchy(hierarchy("c", ""))
		}, "p"},
		"the sub-namespace is about to be created": {func(t *Tree) {
			t.SetNamespace(ns("p"))
			t.SetSubnamespace(record("p", "c"))
		}, "p"},
		"the sub-namespace's parent terminates": {func(t *Tree) {
			t.SetNamespace(ns("p", terminating))
			t.SetSubnamespace(record("p", "c"))
		}, ""},
		"the sub-namespace's parent begins to terminate": {func(t *Tree) {
			t.SetNamespace(ns("p"))
			t.SetSubnamespace(record("p", "c"))
			t.SetNamespace(ns("p", terminating))
		}, ""},
		"another annotation does not take it out of its tree": {func(t *Tree) {
			t.SetNamespace(ns("p"))
			t.SetNamespace(ns("c", subOf("elsewhere"), func(n *Namespace) { n.Labels = map[string]string{hnc.TreeLabel("p"): "1", hnc.TreeLabel("c"): "0"} }))
			t.SetSubnamespace(record("p", "c"))
		}, "p"},
		"a foreign namespace can't be captured": {func(t *Tree) {
			t.SetNamespace(ns("p"))
			t.SetNamespace(ns("c"))
			t.SetSubnamespace(record("p", "c"))
		}, ""},
		"the subnamespace terminates while the namespace exists": {func(t *Tree) {
			t.SetNamespace(ns("c", subOf("p")))
			s := record("p", "c")
			s.Terminating = true
			t.SetSubnamespace(s)
		}, "p"},
		"the subnamespace terminates and the namespace is gone": {func(t *Tree) {
			t.SetNamespace(ns("p"))
			s := record("p", "c")
			s.Terminating = true
			t.SetSubnamespace(s)
		}, ""},
		"the subnamespace belongs to an earlier parent": {func(t *Tree) {
			t.SetNamespace(ns("p"))
			t.SetNamespace(ns("c", subOf("p")))
			s := record("p", "c")
			s.Owner = "uid-p-before"
			t.SetSubnamespace(s)
		}, ""},
		"the hierarchy is deleted": {func(t *Tree) {
			t.SetNamespace(ns("c"))
			t.SetHierarchy(hierarchy("c", "p"))
			t.DeleteHierarchy("c", "h-c")
		}, ""},
		"an earlier hierarchy is deleted": {func(t *Tree) {
			t.SetNamespace(ns("c"))
			t.SetHierarchy(hierarchy("c", "p"))
			t.DeleteHierarchy("c", "h-before")
		}, "p"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := New(managedkeys.Default())
			test.given(tree)
			if got := tree.Parent("c"); got != test.want {
				t.Errorf("parent is %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnOlderVersionIsNotNews(t *testing.T) {
	tree := New(managedkeys.Rules{})
	old := hierarchy("c", "before")
	tree.SetNamespace(ns("c"))
	tree.SetHierarchy(hierarchy("c", "now"))
	if affected := tree.SetHierarchy(old); len(affected.Moved)+len(affected.Changed) != 0 || tree.Parent("c") != "now" {
		t.Errorf("affected %v, parent %q", affected, tree.Parent("c"))
	}
}

func TestAnExcludedNamespaceTakesNoPart(t *testing.T) {
	tree := New(managedkeys.Default())
	tree.SetNamespace(ns("kube-system"))
	tree.SetNamespace(ns("c"))
	tree.SetHierarchy(hierarchy("kube-system", "c"))
	tree.SetHierarchy(hierarchy("c", "kube-system"))
	if got := tree.Parent("kube-system"); got != "" {
		t.Errorf("kube-system has the parent %q", got)
	}
	if at, cause := tree.HaltedAt("c"); at != "c" || cause != forest.IllegalParent {
		t.Errorf("c is halted at %q: %q", at, cause)
	}
}
