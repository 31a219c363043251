package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// grow returns a tree of "child<parent" words; a child with a ~ before it is a sub-namespace, one with a ~? has no
// Subnamespace, and a + after it allows cascading deletion.
func grow(words ...string) *tree.Tree {
	t := tree.New(managedkeys.Default())
	for _, word := range words {
		name, parent, _ := strings.Cut(word, "<")
		name, sub := strings.CutPrefix(name, "~")
		name, lost := strings.CutPrefix(name, "?")
		name, cascading := strings.CutSuffix(name, "+")
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}}
		if sub {
			ns.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: parent}
			if !lost {
				t.SetSubnamespace(&tree.Subnamespace{Key: tree.Key{Parent: parent, Name: name}, UID: "s", ResourceVersion: "1"})
			}
		}
		t.SetNamespace(tree.NewNamespace(ns))
		t.SetHierarchy(&tree.Hierarchy{Namespace: name, UID: "h", ResourceVersion: "1", Parent: parent, Cascading: cascading})
	}
	return t
}

func TestDeletion(t *testing.T) {
	for _, row := range []struct {
		name, tree, deleted, want string
	}{
		{"a leaf", "root leaf<root", "leaf", "leaf Deleted"},
		{"full children stay", "root+ leaf<root below<leaf", "root", "root Deleted, leaf Orphaned"},
		{"sub-namespaces go if that is allowed", "root+ ~sub<root ~below<sub", "root", "root Deleted, sub Deleted, below Deleted"},
		{"and stay if not", "root ~sub<root ~below<sub", "root", "root Deleted, sub Orphaned"},
		{"allowed further down only", "root ~sub+<root ~below<sub", "root", "root Deleted, sub Orphaned"},
		{"allowed above", "root+ mid<root ~sub<mid", "mid", "mid Deleted, sub Deleted"},
		{"without a Subnamespace", "root+ ~?sub<root", "root", "root Deleted, sub Deleted"},
		{"the same, not allowed", "root ~?sub<root", "root", "root Deleted, sub Orphaned"},
		{"full ones between", "root+ ~sub<root full<sub ~below<full", "root", "root Deleted, sub Deleted, full Orphaned"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, e := range Deletion(grow(strings.Fields(row.tree)...), row.deleted) {
				got = append(got, e.Namespace+" "+string(e.Fate))
			}
			if strings.Join(got, ", ") != row.want {
				t.Errorf("%v, want %s", got, row.want)
			}
		})
	}
}

// index returns the objects "namespace/name", and copies "namespace/name<source".
func index(t *testing.T, words ...string) *copies.Index {
	t.Helper()
	x := copies.NewIndex(copies.Kind{Kind: "ConfigMap"})
	for i, word := range words {
		location, from, isCopy := strings.Cut(word, "<")
		m := &metav1.PartialObjectMetadata{}
		m.Namespace, m.Name, _ = strings.Cut(location, "/")
		m.UID, m.ResourceVersion = types.UID(word), fmt.Sprint(i+1)
		if isCopy {
			m.Labels = map[string]string{hnc.LabelInheritedFrom: from}
		}
		x.Set(copies.NewSource(m, x.Kind, &copies.Rules{}))
	}
	return x
}

func TestEffectsOfMove(t *testing.T) {
	objects := []string{"a/x", "b/y", "b/z", "moved/z", "moved/own", "moved/x<a", "below/x<a", "below/own<moved"}
	for _, row := range []struct {
		parent, want string
	}{
		{"b", "moved: delete x, create y, update z; below: delete x, create y, create z"},
		{"", "moved: delete x; below: delete x, create z"},
		{"gone", ""},
	} {
		f := grow("a", "b", "moved<a", "below<moved")
		x := index(t, objects...)
		Move(f, "moved", row.parent)
		var got []string
		for e := range Effects(f, []*copies.Index{x}, Scope(f, "moved")) {
			var writes []string
			for _, w := range e.Writes {
				writes = append(writes, string(w.Verb)+" "+w.Name)
			}
			got = append(got, e.Namespace+": "+strings.Join(writes, ", "))
		}
		if strings.Join(got, "; ") != row.want {
			t.Errorf("below %q: %v, want %s", row.parent, got, row.want)
		}
	}
}

func TestMoveKeepsOtherFields(t *testing.T) {
	f := grow("a", "b", "moved+<a")
	said := []v1beta1.ResourceSpec{{Resource: "secrets"}}
	h := *f.HierarchyRecord("moved")
	h.ResourceVersion, h.Propagation = "2", said
	f.SetHierarchy(&h)
	Move(f, "moved", "b")
	if f.Parent("moved") != "b" || !f.CascadingAllowed("moved") || !slices.Equal(f.Propagation("moved"), said) {
		t.Errorf("%+v", f.HierarchyRecord("moved"))
	}
}

func TestLabelsOfAbstractAncestors(t *testing.T) {
	tr := grow("leaf", "below<leaf", "other")
	for _, ns := range []struct {
		name   string
		labels map[string]string
	}{
		{"leaf", map[string]string{hnc.TreeLabel("leaf"): "0", hnc.TreeLabel("old"): "1"}},
		{"below", map[string]string{hnc.TreeLabel("below"): "0", hnc.TreeLabel("leaf"): "1", hnc.TreeLabel("old"): "2"}},
	} {
		tr.SetNamespace(tree.NewNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns.name, UID: types.UID(ns.name), ResourceVersion: "2", Labels: ns.labels}}))
	}
	Abstract(tr, "leaf", []string{"eng", "top"})
	scope := Scope(tr, "leaf")
	var got []string
	for e := range WithLabels(tr, Effects(tr, nil, scope), scope) {
		for _, l := range e.Labels {
			got = append(got, fmt.Sprintf("%s %s %s>%s", e.Namespace, strings.TrimSuffix(l.Key, hnc.LabelTreeSuffix), l.Before, l.After))
		}
	}
	want := []string{"leaf eng >1", "leaf old 1>", "leaf top >2", "below eng >2", "below old 2>", "below top >3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
