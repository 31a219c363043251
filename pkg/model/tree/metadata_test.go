package tree

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// managedChain returns a tree a <- b <- c in which the label and the annotation m are managed, and the label off
// excludes.
func managedChain(t *testing.T) *Tree {
	t.Helper()
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{
		ExcludedNamespaces: hnc.ExcludedNamespaces, ManagedNamespaceLabels: []string{"m"}, ManagedNamespaceAnnotations: []string{"m"},
		ExcludedNamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "off", Operator: metav1.LabelSelectorOpExists}}},
	}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	tree := New(rules)
	for _, name := range []string{"a", "b", "c"} {
		tree.SetNamespace(ns(name))
	}
	tree.SetHierarchy(hierarchy("b", "a"))
	tree.SetHierarchy(hierarchy("c", "b"))
	return tree
}

func labelled(key, value string) func(*Namespace) {
	return func(n *Namespace) { n.Labels = map[string]string{key: value} }
}

func external(n *Namespace) { n.ManagedBy = "other" }

func saying(namespace, parent, key string) *Hierarchy {
	h := hierarchy(namespace, parent)
	h.Metadata.Labels = []v1beta1.MetaKVP{{Key: key, Value: "1"}}
	return h
}

func TestAChangeOfMetadataAffectsTheSubtreeBelowIt(t *testing.T) {
	for name, test := range map[string]struct {
		change         func(*Tree) Affected
		moved, changed []string
	}{
		"3.3c: a managed label":         {func(t *Tree) Affected { return t.SetHierarchy(saying("a", "", "m")) }, nil, []string{"a", "b", "c"}},
		"3.3c: one that is not managed": {func(t *Tree) Affected { return t.SetHierarchy(saying("a", "", "x")) }, nil, []string{"a"}},
		"3.3c: the same again": {func(t *Tree) Affected {
			t.SetHierarchy(saying("a", "", "m"))
			return t.SetHierarchy(saying("a", "", "m"))
		}, nil, []string{"a"}},
		"3.3c: the hierarchy is deleted": {func(t *Tree) Affected { t.SetHierarchy(saying("a", "", "m")); return t.DeleteHierarchy("a", "h-a") }, nil, []string{"a", "b", "c"}},
		"3.3c: a user's own label":       {func(t *Tree) Affected { return t.SetNamespace(ns("a", labelled("m", "1"))) }, nil, []string{"a"}},
		"3.3b': of an external namespace": {func(t *Tree) Affected {
			t.SetNamespace(ns("a", external))
			return t.SetNamespace(ns("a", external, labelled("m", "1")))
		}, nil, []string{"a", "b", "c"}},
		"3.3d: a tree label of an external namespace": {func(t *Tree) Affected {
			t.SetNamespace(ns("a", external))
			return t.SetNamespace(ns("a", external, labelled("org.tree.hnc.x-k8s.io/depth", "1")))
		}, nil, []string{"a", "b", "c"}},
		"3.1 step 9: a child of its Hierarchy is annotated as external": {func(t *Tree) Affected { return t.SetNamespace(ns("b", external)) }, nil, []string{"a", "b"}},
		"3.1 step 8: a Subnamespace": {func(t *Tree) Affected {
			t.SetNamespace(ns("b", subOf("a")))
			t.SetSubnamespace(record("a", "b"))
			s := record("a", "b")
			s.Metadata.Labels = []v1beta1.MetaKVP{{Key: "m", Value: "1"}}
			return t.SetSubnamespace(s)
		}, nil, []string{"a", "b", "c"}},
		"2.1: its labels exclude it": {func(t *Tree) Affected { return t.SetNamespace(ns("b", labelled("off", ""))) }, []string{"b", "c"}, []string{"a", "b"}},
		"2.1: they do so no longer":  {func(t *Tree) Affected { t.SetNamespace(ns("b", labelled("off", ""))); return t.SetNamespace(ns("b")) }, []string{"b", "c"}, []string{"a", "b"}},
		"2.1: they do so, as they did": {func(t *Tree) Affected {
			t.SetNamespace(ns("b", labelled("off", "")))
			return t.SetNamespace(ns("b", labelled("off", "x")))
		}, nil, []string{"b"}},
		"2.1: a root is excluded": {func(t *Tree) Affected { return t.SetNamespace(ns("a", labelled("off", ""))) }, []string{"a", "b", "c"}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			affected := test.change(managedChain(t))
			if got := sorted(affected.Moved); !slices.Equal(got, test.moved) {
				t.Errorf("moved %v, want %v", got, test.moved)
			}
			if got := sorted(affected.Changed); !slices.Equal(got, test.changed) {
				t.Errorf("changed %v, want %v", got, test.changed)
			}
		})
	}
}

func TestANamespaceThatIsExcludedByLabelsLosesItsParentAndWhatItInherits(t *testing.T) {
	tree := managedChain(t)
	tree.SetSubnamespace(record("b", "d"))
	affected := tree.SetNamespace(ns("b", labelled("off", "")))
	if !slices.Contains(affected.Subnamespaces, Key{"b", "d"}) {
		t.Errorf("2.1: the Subnamespace in it does not hear of it: %v", affected.Subnamespaces)
	}
	if tree.Parent("b") != "" || tree.Active("b") || tree.Parent("d") != "" {
		t.Errorf("2.1: parent %q, active %t, parent of what was asked for %q", tree.Parent("b"), tree.Active("b"), tree.Parent("d"))
	}
	if tree.Frozen("b") {
		t.Error("2.1: what it has inherited stays")
	}
	if at, cause := tree.HaltedAt("c"); at != "c" || cause != forest.IllegalParent {
		t.Errorf("2.1: its child is halted at %q: %q", at, cause)
	}
	tree.SetNamespace(ns("b"))
	if tree.Parent("b") != "a" || tree.Parent("d") != "b" || tree.Frozen("c") {
		t.Error("2.1: its parent is not restored")
	}
}

func TestARecordKeepsOfANamespaceWhatMatters(t *testing.T) {
	tree := managedChain(t)
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "d", ResourceVersion: next(), Annotations: map[string]string{
		"m": "1", "x": "2", hnc.AnnotationSubnamespaceOf: "a", hnc.AnnotationManagedBy: "other",
	}}}
	tree.SetNamespace(NewNamespace(object))
	if d := tree.Namespace("d"); len(d.Annotations) != 1 || d.Annotations["m"] != "1" || d.SubnamespaceOf != "" || d.ManagedBy != "other" {
		t.Errorf("got %+v", d)
	}
	if len(object.Annotations) != 4 {
		t.Error("the object itself was changed")
	}
}

// One object may repeat a key 256 times, and the evaluation of a subtree asks for it again and again.
func TestRulesAreEvaluatedOnceForEachVersionOfAnObject(t *testing.T) {
	tree := managedChain(t)
	repeated := slices.Repeat([]v1beta1.MetaKVP{{Key: "m", Value: "1"}, {Key: "x", Value: "1"}}, 100)
	all := Metadata{Labels: repeated, Annotations: repeated, NamespaceLabels: repeated, NamespaceAnnotations: repeated}
	h, s := hierarchy("b", "a"), record("b", "c")
	h.Metadata, s.Metadata = all, all
	tree.SetHierarchy(h)
	tree.SetNamespace(ns("c", subOf("b")))
	tree.SetSubnamespace(s)
	tree.SetNamespace(ns("a", external, labelled("m", "1"), func(n *Namespace) { n.Annotations = map[string]string{"m": "1"} }))
	for _, name := range []string{"a", "b", "c"} {
		for i, evaluate := range []func(string) (labels, annotations map[string]string){tree.Inherited, tree.Own} {
			if name == "a" && i == 1 {
				continue // an external namespace has no labels for itself only
			}
			labels, annotations := evaluate(name)
			again, annotationsAgain := evaluate(name)
			for _, pair := range [][2]map[string]string{{labels, again}, {annotations, annotationsAgain}} {
				if len(pair[0]) != 1 || reflect.ValueOf(pair[0]).Pointer() != reflect.ValueOf(pair[1]).Pointer() {
					t.Errorf("%s: %v was evaluated again", name, pair[0])
				}
			}
		}
	}
	s = record("b", "c")
	tree.SetSubnamespace(s)
	if labels, _ := tree.Inherited("c"); len(labels) > 0 {
		t.Errorf("a new version without labels has %v", labels)
	}
}
