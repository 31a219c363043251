package adoption

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestMoves(t *testing.T) {
	// Each word is a namespace, or a namespace and the value of its key, or its tree label.
	for name, test := range map[string]struct {
		given  string
		source Source
		want   string
	}{
		"a label":                {"a b=a c=b", Source{Label: "key"}, "b<a c<b"},
		"an annotation":          {"a b=a", Source{Annotation: "key"}, "b<a"},
		"a prefix":               {"project-x b=x c=x", Source{Label: "key", Prefix: "project-"}, "b<project-x c<project-x"},
		"parents come first":     {"a=b b=c c", Source{Label: "key"}, "b<c a<b"},
		"a selector":             {"a b=a c=a", Source{Label: "key", Selector: labels.SelectorFromSet(labels.Set{"name": "c"})}, "c<a"},
		"nothing":                {"a b", Source{Label: "key"}, ""},
		"its own parent":         {"a=a b=a", Source{Label: "key"}, "b<a"},
		"excluded":               {"a kube-system=a", Source{Label: "key"}, ""},
		"a missing parent":       {"b=a c=a", Source{Label: "key"}, "skipped b: its parent a does not exist; create it: kubectl create namespace a skipped c: its parent a does not exist; create it: kubectl create namespace a"},
		"no name of a namespace": {"b=c-1:p-2", Source{Annotation: "key"}, `skipped b: its parent would be "c-1:p-2", which cannot be the name of a namespace; choose another key or --prefix`},
		"cycles": {"a=b b=a c=d d=c e=a f", Source{Label: "key"}, "e<a" +
			" skipped a: it would be its own ancestor: a <- b <- a; give one of them another parent skipped b: it would be its own ancestor: a <- b <- a; give one of them another parent" +
			" skipped c: it would be its own ancestor: c <- d <- c; give one of them another parent skipped d: it would be its own ancestor: c <- d <- c; give one of them another parent"},
		"one of many": {"a b=a c=missing d=a", Source{Label: "key"}, "b<a d<a skipped c: its parent missing does not exist; create it: kubectl create namespace missing"},
		"tree labels": {"a b:a c:b", Source{TreeLabels: true}, "b<a c<b"},
	} {
		t.Run(name, func(t *testing.T) {
			var namespaces []metav1.PartialObjectMetadata
			for word := range strings.FieldsSeq(test.given) {
				ns := metav1.PartialObjectMetadata{}
				var value string
				if ancestor, after, ok := strings.Cut(word, ":"); ok && test.source.TreeLabels {
					ns.Name = ancestor
					ns.Labels = map[string]string{hnc.TreeLabel(ancestor): "0", hnc.TreeLabel(after): "1", hnc.TreeLabel("top"): "2"}
				} else if ns.Name, value, ok = strings.Cut(word, "="); ok {
					ns.Labels, ns.Annotations = map[string]string{"key": value, "name": ns.Name}, map[string]string{"key": value}
				}
				namespaces = append(namespaces, ns)
			}
			moves, skipped := Moves(namespaces, test.source)
			var got []string
			for _, p := range moves {
				got = append(got, p.Namespace+"<"+p.Parent)
			}
			for _, s := range skipped {
				got = append(got, "skipped "+s.Namespace+": "+s.Reason)
			}
			if joined := strings.Join(got, " "); joined != test.want {
				t.Errorf("got %q, want %q", joined, test.want)
			}
		})
	}
}

func TestAnAbstractAncestorIsNoParent(t *testing.T) {
	ns := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "root", Labels: map[string]string{hnc.TreeLabel("root"): "0", hnc.TreeLabel("eng"): "1"}, Annotations: map[string]string{hnc.AnnotationAbstractAncestors: "eng"},
	}}
	if moves, skipped := Moves([]metav1.PartialObjectMetadata{ns}, Source{TreeLabels: true}); len(moves)+len(skipped) > 0 {
		t.Errorf("got %v and %v", moves, skipped)
	}
}
