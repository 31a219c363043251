package restore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestPlanOfAlignment(t *testing.T) {
	chain := []string{"ns a", "has a label a.tree.hnc.x-k8s.io/depth=0", "ns b", "has b label b.tree.hnc.x-k8s.io/depth=0", "has b label a.tree.hnc.x-k8s.io/depth=1",
		"ns c", "has c label c.tree.hnc.x-k8s.io/depth=0", "has c label b.tree.hnc.x-k8s.io/depth=1", "has c label a.tree.hnc.x-k8s.io/depth=2"}
	sub := []string{"parent b a", "parent c b", "ns d sub-of a", "has d label d.tree.hnc.x-k8s.io/depth=0", "has d label a.tree.hnc.x-k8s.io/depth=1"}
	with := func(more ...string) []string { return append(slices.Clone(chain), more...) }
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"equal":            {with("parent b a", "parent c b"), ""},
		"nothing":          {chain, "1: b below a; 2: c below b"},
		"reversed":         {with("parent a b", "parent b c"), "leave a; 1: b below a; 2: c below b"},
		"a missing parent": {with("parent b a", "parent c b", "parent a gone"), ""},
		"a missing parent of one that has more to record": {with("parent b a", "parent c b", "parent a gone", "has a label hnc.x-k8s.io/cascading-deletion=allowed"), ""},
		"no parent of one that has more to record":        {with("parent b a", "parent c b", "parent a d", "ns d", "has a label hnc.x-k8s.io/cascading-deletion=allowed"), "leave a"},
		"without its record":                              {with("parent b a", "parent c b", "ns d sub-of a", "has d label d.tree.hnc.x-k8s.io/depth=0", "has d label a.tree.hnc.x-k8s.io/depth=1"), "1: d sub-of a"},
		"with a void record":                              {append(with(sub...), "parent d a", "ready a d", "void a d"), ""},
		"a void record is no parent":                      {append(with(sub...), "ready a d", "void a d"), "1: d sub-of a"},
		"a deletion of a void one is over":                {append(with(sub...), "parent d a", "deleting a d", "void a d"), "1: d sub-of a"},
		"a deletion that is over":                         {with("parent b a", "parent c b", "parent d a", "ns d sub-of a", "has d label d.tree.hnc.x-k8s.io/depth=0", "has d label a.tree.hnc.x-k8s.io/depth=1", "deleting a d"), "1: d sub-of a"},
		"a deletion along with the parent":                {with("parent b a", "parent c b", "parent d a", "ns d sub-of a", "has d label d.tree.hnc.x-k8s.io/depth=0", "has d label a.tree.hnc.x-k8s.io/depth=1", "deleting a d", "terminating a"), ""},
		"a sub-namespace that was deleted":                {with("parent b a", "parent c b", "ready a d"), "gone d"},
		"a sub-namespace that was asked for":              {with("parent b a", "parent c b", "asked a d"), ""},
		"an excluded parent":                              {with("parent b a", "parent c b", "ns x", "has x label off=", "ns y", "has y label y.tree.hnc.x-k8s.io/depth=0", "parent y x"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := planAlignment(treetest.New(test.given...))
			var words []string
			for _, s := range a.gone {
				words = append(words, "gone "+s.Name)
			}
			for _, r := range a.leave {
				words = append(words, "leave "+r.name)
			}
			for depth, level := range a.join {
				for _, r := range level {
					how := "below"
					if r.subnamespace {
						how = "sub-of"
					}
					words = append(words, fmt.Sprintf("%d: %s %s %s", depth, r.name, how, r.parent))
				}
			}
			if got := strings.Join(words, "; "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// It holds no edge, and no new claim of its name was authorized.
func TestAVoidSubnamespaceStaysVoid(t *testing.T) {
	void := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{
		Namespace: "root", Name: "leaf", UID: "s", ResourceVersion: "1", Annotations: map[string]string{hnc.AnnotationVoid: "true"},
	}}
	f := newFixture(t, nil, void)
	f.namespaces("root", "leaf root=1")
	f.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "leaf", UID: "leaf", ResourceVersion: "9", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "root"},
		Labels: map[string]string{hnc.TreeLabel("leaf"): "0", hnc.TreeLabel("root"): "1"},
	}})
	f.Cache.ObserveSubnamespace(void)
	if err := f.align(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, action := range f.hierarchy.Actions() {
		if action.GetResource().Resource == "subnamespaces" {
			t.Errorf("it is written: %v", action)
		}
	}
	if h, err := f.hierarchy.HncV1beta1().Hierarchies("leaf").Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); err != nil || h.Spec.Parent != "root" {
		t.Errorf("got %v, %v", h, err)
	}
}
