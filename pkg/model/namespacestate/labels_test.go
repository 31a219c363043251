package namespacestate

import (
	"maps"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestTheLabelsOfANamespaceShowItsPositionInTheTree(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		of    string
		want  string
	}{
		"a root":                {[]string{"ns a"}, "a", "a:0 included-namespace"},
		"an excluded namespace": {[]string{"ns kube-system"}, "kube-system", ""},
		"a grandchild":          {[]string{"ns a", "ns b", "ns c", "parent b a", "parent c b"}, "c", "a:2 b:1 c:0 in-tree included-namespace"},
		"of a missing parent":   {[]string{"ns b", "parent b a"}, "b", "b:0 in-tree included-namespace"},
		"COND-AncestorHaltActivities below a missing parent": {[]string{"ns b", "ns c", "parent b a", "parent c b"}, "c", "b:1 c:0 in-tree included-namespace"},
		"of an excluded parent":                              {[]string{"ns b", "parent b kube-system"}, "b", "b:0 in-tree included-namespace"},
		"in a cycle":                                         {[]string{"ns a", "ns b", "parent a b", "parent b a"}, "a", "a:0 in-tree included-namespace"},
		"below a cycle": {[]string{"ns a", "ns b", "ns c", "parent a b", "parent b a", "parent c b"}, "c",
			"b:1 c:0 in-tree included-namespace"},
		"with a full child":                          {[]string{"ns a", "ns b", "parent b a"}, "a", "a:0 in-tree included-namespace"},
		"with a sub-namespace":                       {[]string{"ns a", "ns b sub-of a", "asked a b"}, "a", "a:0 has-subnamespaces in-tree included-namespace"},
		"with an orphan, which anybody can annotate": {[]string{"ns a", "ns b sub-of a"}, "a", "a:0 included-namespace"},
		"with a void Subnamespace":                   {[]string{"ns a", "ns b", "asked a b", "void a b", "parent b a"}, "a", "a:0 in-tree included-namespace"},
		"with an orphan that has a parent":           {[]string{"ns a", "ns b sub-of a", "parent b a"}, "a", "a:0 has-subnamespaces in-tree included-namespace"},
		"with a sub-namespace that is elsewhere":     {[]string{"ns a", "ns b sub-of a", "asked a b", "parent b c", "ns c"}, "a", "a:0 included-namespace"},
		"whose sub-namespace is about to be created": {[]string{"ns a", "asked a b"}, "a", "a:0 has-subnamespaces in-tree included-namespace"},
		"whose sub-namespace is in conflict":         {[]string{"ns a", "ns b", "asked a b"}, "a", "a:0 included-namespace"},
		"whose sub-namespace is gone and won't return": {[]string{"ns a", "deleting a b"}, "a",
			"a:0 included-namespace"},
		"that does not exist yet":                  {[]string{"ns a", "cascading a", "asked a b"}, "b", "a:1 b:0 cascading-deletion in-tree included-namespace"},
		"COND-SubnamespaceAnchorMissing an orphan": {[]string{"ns a", "ns b sub-of a", "parent b a"}, "b", "a:1 b:0 in-tree included-namespace orphaned"},
		"an orphan to be":                          {[]string{"ns a", "ns b sub-of a", "deleting a b"}, "b", "a:1 b:0 in-tree included-namespace"},
		"a leaf with abstract ancestors":           {[]string{"ns a", "abstract a eng platform"}, "a", "a:0 eng:1 included-namespace platform:2"},
		"below such a leaf":                        {[]string{"ns a", "ns b", "parent b a", "abstract a eng platform"}, "b", "a:1 b:0 eng:2 in-tree included-namespace platform:3"},
		"with the name of an abstract ancestor":    {[]string{"ns a", "ns eng", "parent eng a", "abstract a eng platform"}, "eng", "a:1 eng:0 in-tree included-namespace platform:3"},
		"below one of that name":                   {[]string{"ns a", "ns eng", "ns c", "parent eng a", "parent c eng", "abstract a eng platform"}, "c", "a:2 c:0 eng:1 in-tree included-namespace platform:4"},
		"elsewhere, with an abstract name":         {[]string{"ns a", "ns eng", "abstract a eng"}, "eng", "eng:0 included-namespace"},
		"halted below abstract ancestors":          {[]string{"ns b", "parent b gone", "abstract a eng", "ns a"}, "b", "b:0 in-tree included-namespace"},
		"below an external one with labels that are not distances": {[]string{"ns a", "ns b", "parent b a", "has a manager other", "has a label y.tree.hnc.x-k8s.io/depth=far",
			"has a label x.tree.hnc.x-k8s.io/depth=1", "has a label z.tree.hnc.x-k8s.io/depth=9223372036854775807"}, "b", "a:1 b:0 in-tree included-namespace x:2"},
		"named as a foreign ancestor":          {[]string{"ns a", "ns b", "ns c", "parent b a", "parent c b", "has a manager other", "has a label c.tree.hnc.x-k8s.io/depth=1", "has a label x.tree.hnc.x-k8s.io/depth=2"}, "c", "a:2 b:1 c:0 in-tree included-namespace x:4"},
		"external, with abstract ancestors":    {[]string{"ns a", "has a manager other", "abstract a eng"}, "a", "a:0 eng:1 included-namespace"},
		"a leaf that was annotated as a child": {[]string{"ns p", "ns a sub-of p", "asked p a", "abstract a eng"}, "a", "a:0 eng:1 included-namespace"},
		"of the parent of such a leaf":         {[]string{"ns p", "ns a sub-of p", "asked p a", "abstract a eng"}, "p", "included-namespace p:0"},
		"cascading by itself":                  {[]string{"ns a", "cascading a"}, "a", "a:0 cascading-deletion included-namespace"},
		"cascading by a root": {[]string{"ns a", "ns b", "ns c", "cascading a", "parent b a", "parent c b"}, "c",
			"a:2 b:1 c:0 cascading-deletion in-tree included-namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := treetest.Show(Labels(treetest.New(test.given...), test.of)); got != test.want {
				t.Errorf("labels %q, want %q", got, test.want)
			}
		})
	}
}

func TestOnlyLabelsThatDifferAreChanged(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		want  map[string]string // "-" removes
	}{
		"all missing":           {[]string{"ns a"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true"}},
		"an outdated value":     {[]string{"ns a label a.tree.hnc.x-k8s.io/depth=7"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true"}},
		"a stale tree label":    {[]string{"ns a label x.tree.hnc.x-k8s.io/depth=1"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true", "x.tree.hnc.x-k8s.io/depth": "-"}},
		"one that is right":     {[]string{"ns a label a.tree.hnc.x-k8s.io/depth=0"}, map[string]string{hnc.LabelIncludedNamespace: "true"}},
		"somebody else's label": {[]string{"ns a label team=x"}, map[string]string{"a.tree.hnc.x-k8s.io/depth": "0", hnc.LabelIncludedNamespace: "true"}},
		"a terminating one":     {[]string{"ns a", "terminating a"}, map[string]string{}},
		"a missing one":         {nil, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for key, value := range LabelChanges(treetest.New(test.given...), "a") {
				got[key] = "-"
				if value != nil {
					got[key] = *value
				}
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("changes %v, want %v", got, test.want)
			}
		})
	}
	excluded := LabelChanges(treetest.New("ns kube-system label hnc.x-k8s.io/included-namespace=true"), "kube-system")
	if len(excluded) != 1 || excluded[hnc.LabelIncludedNamespace] != nil {
		t.Errorf("an excluded namespace gets %v", excluded)
	}
}

// Each selective source asks for them, and with the Pod Security of all namespaces above, they are not cheap.
func TestTheLabelsOfADestinationAreEvaluatedOnce(t *testing.T) {
	w := treetest.New("ns a", "ns b", "parent b a")
	d := Destination(w, "b")
	first := d.Labels("b")
	first["seen"] = ""
	if _, same := d.Labels("b")["seen"]; !same {
		t.Error("they are evaluated each time")
	}
}

// The label is believed when the Hierarchy is gone, so it must be right until then.
func TestARevokedPermissionLosesItsLabelAlsoWhenTheNamespaceTerminates(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"it was revoked":         {[]string{"requires a"}, "cascading-deletion"},
		"it is allowed":          {[]string{"cascading a"}, ""},
		"it is allowed above":    {[]string{"ns p", "parent a p", "cascading p"}, ""},
		"the one above is gone":  {[]string{"parent a p"}, ""},
		"the Hierarchy is gone":  {nil, ""},
		"it was revoked, before": {[]string{"ns a", "requires a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			given := append([]string{"ns a label hnc.x-k8s.io/cascading-deletion=allowed", "has a label other=1"}, test.given...)
			removed := map[string]string{}
			for key, value := range LabelChanges(treetest.New(append(given, "terminating a")...), "a") {
				if value != nil {
					t.Errorf("%s is set to %q", key, *value)
				}
				removed[key] = ""
			}
			if got := treetest.Show(removed); got != test.want {
				t.Errorf("removed %q, want %q", got, test.want)
			}
		})
	}
}
