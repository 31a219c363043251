package desired

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree/treetest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestTheAncestryOfANamespace(t *testing.T) {
	for name, test := range map[string]struct {
		given    []string
		of, want string
	}{
		"a root":                    {chainOfThree, "a", "a"},
		"a leaf":                    {chainOfThree, "c", "c.b.a"},
		"the parent is missing":     {[]string{"ns b", "ns c", "parent b gone", "parent c b"}, "b", "b"},
		"below a missing parent":    {[]string{"ns b", "ns c", "parent b gone", "parent c b"}, "c", "c.b"},
		"in a cycle":                {[]string{"ns a", "ns b", "parent a b", "parent b a"}, "a", "a"},
		"below a cycle":             {[]string{"ns a", "ns b", "ns c", "parent a b", "parent b a", "parent c a"}, "c", "c.a"},
		"below an excluded one":     {[]string{"ns a", "parent a kube-system"}, "a", "a"},
		"excluded":                  {[]string{"ns kube-system"}, "kube-system", ""},
		"external":                  {[]string{"ns a", "has a manager other"}, "a", "a"},
		"external, in another tree": {[]string{"ns a", "has a manager other", "has a label y.tree.hnc.x-k8s.io/depth=2", "has a label x.tree.hnc.x-k8s.io/depth=1"}, "a", "a.x.y"},
		"below an external one": {[]string{"ns a", "ns b", "parent b a", "has a manager other", "has a label y.tree.hnc.x-k8s.io/depth=10", "has a label x.tree.hnc.x-k8s.io/depth=9"},
			"b", "b.a.x.y"},
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
