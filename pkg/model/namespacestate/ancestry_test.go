package namespacestate

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestTheAncestryOfANamespace(t *testing.T) {
	for name, test := range map[string]struct {
		given    []string
		of, want string
	}{
		"a root":                          {chainOfThree, "a", "a"},
		"a leaf":                          {chainOfThree, "c", "c.b.a"},
		"the parent is missing":           {[]string{"ns b", "ns c", "parent b gone", "parent c b"}, "b", "b"},
		"below a missing parent":          {[]string{"ns b", "ns c", "parent b gone", "parent c b"}, "c", "c.b"},
		"in a cycle":                      {[]string{"ns a", "ns b", "parent a b", "parent b a"}, "a", "a"},
		"below a cycle":                   {[]string{"ns a", "ns b", "ns c", "parent a b", "parent b a", "parent c a"}, "c", "c.a"},
		"below an excluded one":           {[]string{"ns a", "parent a kube-system"}, "a", "a"},
		"excluded":                        {[]string{"ns kube-system"}, "kube-system", ""},
		"a leaf below abstract ancestors": {[]string{"ns a", "abstract a eng platform"}, "a", "a.eng.platform"},
		"further below":                   {[]string{"ns a", "ns b", "parent b a", "abstract a eng platform"}, "b", "b.a.eng.platform"},
		"named as an abstract ancestor":   {[]string{"ns a", "ns eng", "parent eng a", "abstract a eng platform"}, "eng", "eng.a.platform"},
		"external":                        {[]string{"ns a", "has a manager other"}, "a", "a"},
		"external, in another tree":       {[]string{"ns a", "has a manager other", "has a label y.tree.hnc.x-k8s.io/depth=2", "has a label x.tree.hnc.x-k8s.io/depth=1"}, "a", "a.x.y"},
		"external, with labels that are not distances": {[]string{"ns a", "has a manager other", "has a label y.tree.hnc.x-k8s.io/depth=far", "has a label x.tree.hnc.x-k8s.io/depth=1",
			"has a label z.tree.hnc.x-k8s.io/depth=9223372036854775807"}, "a", "a.x"},
		"below an external one": {[]string{"ns a", "ns b", "parent b a", "has a manager other", "has a label y.tree.hnc.x-k8s.io/depth=10", "has a label x.tree.hnc.x-k8s.io/depth=9"},
			"b", "b.a.x.y"},
		"named as a foreign ancestor": {[]string{"ns a", "ns b", "parent b a", "has a manager other", "has a label b.tree.hnc.x-k8s.io/depth=1", "has a label x.tree.hnc.x-k8s.io/depth=2"}, "b", "b.a.x"},
	} {
		t.Run(name, func(t *testing.T) {
			w := treetest.New(test.given...)
			if got := Ancestry(w, test.of); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			patch := AnnotationChanges(w, test.of)
			if value := patch[hnc.AnnotationAncestry]; (value == nil) != (test.want == "") || (value != nil && *value != test.want) {
				t.Errorf("got the patch %v", patch)
			}
			// What is right is not written again, and what somebody has edited is.
			ns := *w.Namespace(test.of)
			ns.ResourceVersion, ns.Ancestry = treetest.Next(), test.want
			if abstract := AbstractAncestors(w, test.of); abstract != "" {
				ns.Abstract = strings.Split(abstract, ".")
			}
			w.SetNamespace(&ns)
			if patch := AnnotationChanges(w, test.of); len(patch) != 0 {
				t.Errorf("got the patch %v of what is right", patch)
			}
			edited := ns
			edited.ResourceVersion, edited.Ancestry = treetest.Next(), "edited"
			w.SetNamespace(&edited)
			if patch := AnnotationChanges(w, test.of); len(patch) != 1 {
				t.Errorf("got the patch %v of what was edited", patch)
			}
		})
	}
}

func TestTheAbstractAncestorsOfANamespace(t *testing.T) {
	leaf := []string{"ns a", "ns b", "parent b a", "abstract a eng platform"}
	for name, test := range map[string]struct {
		given    []string
		of, want string
	}{
		"a leaf":                     {leaf, "a", "eng.platform"},
		"below it":                   {leaf, "b", "eng.platform"},
		"named as one of them":       {append(leaf, "ns eng", "parent eng b"), "eng", "platform"},
		"not any more":               {append(leaf, "has a abstract eng.platform", "abstract a"), "a", ""},
		"moved away":                 {append(leaf, "has b abstract eng.platform", "ns c", "parent b c"), "b", ""},
		"excluded from hierarchies":  {append(leaf, "has a abstract eng.platform", "has a label off="), "a", ""},
		"in the tree of another one": {append(leaf, "ns c"), "c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := treetest.New(test.given...)
			if got := AbstractAncestors(w, test.of); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			value, patched := AnnotationChanges(w, test.of)[hnc.AnnotationAbstractAncestors]
			if had := w.Namespace(test.of).Abstract != nil; patched != (had || test.want != "") {
				t.Errorf("patched: %v", patched)
			}
			if patched && (value == nil) != (test.want == "") {
				t.Errorf("got the patch %v", value)
			}
		})
	}
}
