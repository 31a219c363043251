package treerules

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

func TestInPlace(t *testing.T) {
	parents := map[string]string{"root": "", "a": "root", "b": "a", "c": "gone", "d": "c", "sub": "root", "sub-below": "sub"}
	for name, test := range map[string]struct {
		namespace, parent string
		change            func(*fixture)
		want              bool
	}{
		"a root":                        {namespace: "root", want: true},
		"one that becomes a root":       {namespace: "b", want: true},
		"a leaf":                        {namespace: "b", parent: "a", want: true},
		"one that moves":                {namespace: "b", parent: "root", want: true},
		"one that does not exist":       {namespace: "gone"},
		"its parent does not exist":     {namespace: "c", parent: "gone"},
		"its parent's parent does not":  {namespace: "d", parent: "c"},
		"its parent is excluded":        {namespace: "a", parent: "kube-system"},
		"it is excluded":                {namespace: "kube-system"},
		"a sub-namespace":               {namespace: "sub", parent: "root", want: true},
		"a sub-namespace below another": {namespace: "sub-below", parent: "sub", want: true},
		"no Subnamespace claims it": {namespace: "sub", parent: "root", change: func(f *fixture) {
			f.Index.edges["sub"] = stored{edgeValue: edgeValue{Parent: "root", Hierarchy: uid("sub")}}
		}},
		"an earlier parent claims it": {namespace: "sub", parent: "root", change: func(f *fixture) {
			f.Index.edges["sub"] = stored{edgeValue: edgeValue{Parent: "root", Subnamespace: "earlier"}}
		}},
		"another parent claims it": {namespace: "sub", parent: "a", change: func(f *fixture) {
			f.Index.edges["sub"] = stored{edgeValue: edgeValue{Parent: "a", Subnamespace: uid("a")}}
		}},
		"an ancestor's labels exclude it":  {namespace: "b", parent: "a", change: func(f *fixture) { f.label("root") }},
		"its own labels exclude it":        {namespace: "b", parent: "a", change: func(f *fixture) { f.label("b") }},
		"an external root":                 {namespace: "a", change: func(f *fixture) { f.external("a") }, want: true},
		"an external one has a parent":     {namespace: "a", parent: "root", change: func(f *fixture) { f.external("a") }},
		"one whose parent is external too": {namespace: "b", parent: "a", change: func(f *fixture) { f.external("a") }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, parents)
			f.namespace("kube-system", func(*corev1.Namespace) {})
			if test.change != nil {
				test.change(f)
			}
			if got := f.Index.InPlace(test.namespace, test.parent); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

// namespace changes a namespace in the cache.
func (f *fixture) namespace(name string, change func(*corev1.Namespace)) {
	namespace := &corev1.Namespace{}
	if known, err := f.config().Namespaces.Get(name); err == nil {
		namespace = known.DeepCopy()
	}
	namespace.Name = name
	change(namespace)
	_ = f.indexer.Update(namespace)
}

func (f *fixture) external(name string) {
	f.namespace(name, func(n *corev1.Namespace) { n.Annotations = map[string]string{hnc.AnnotationManagedBy: "other"} })
}

// label excludes a namespace by its labels.
func (f *fixture) label(name string) {
	rules, _ := managedkeys.NewRules(&v1beta1.Rules{
		ExcludedNamespaces: hnc.ExcludedNamespaces, ExcludedNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"hierarchy": "off"}},
	}, nil)
	f.config().Rules = func() managedkeys.Rules { return rules }
	f.namespace(name, func(n *corev1.Namespace) { n.Labels = map[string]string{"hierarchy": "off"} })
}
