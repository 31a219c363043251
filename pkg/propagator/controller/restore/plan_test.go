package restore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestMissingHierarchies(t *testing.T) {
	labelled := []string{"ns a", "has a label a.tree.hnc.x-k8s.io/depth=0", "ns b", "has b label b.tree.hnc.x-k8s.io/depth=0", "has b label a.tree.hnc.x-k8s.io/depth=1"}
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"none are there":       {labelled, "b"},
		"it is there":          {append(slices.Clone(labelled), "parent b a"), ""},
		"it is elsewhere":      {append(slices.Clone(labelled), "parent b c"), ""},
		"it is asked for":      {append(slices.Clone(labelled), "asked a b"), ""},
		"no labels of parents": {[]string{"ns a", "has a label a.tree.hnc.x-k8s.io/depth=0"}, ""},
		"terminating":          {append(slices.Clone(labelled), "terminating b"), ""},
		"excluded":             {append(slices.Clone(labelled), "has b label off="), ""},
	} {
		if got := strings.Join(missing(treetest.New(test.given...)), " "); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestPlanOfLostHierarchies(t *testing.T) {
	chained := []string{"ns a", "has a label a.tree.hnc.x-k8s.io/depth=0", "ns b", "has b label b.tree.hnc.x-k8s.io/depth=0", "has b label a.tree.hnc.x-k8s.io/depth=1",
		"ns c sub-of b", "has c label c.tree.hnc.x-k8s.io/depth=0", "has c label b.tree.hnc.x-k8s.io/depth=1", "has c label a.tree.hnc.x-k8s.io/depth=2"}
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"a chain":                           {chained, "b below a, c sub-of b"},
		"roots":                             {[]string{"ns a", "has a label a.tree.hnc.x-k8s.io/depth=0", "ns b"}, ""},
		"an orphan":                         {append(chained, "has c label hnc.x-k8s.io/orphaned=true"), "b below a, c below b"},
		"a sub-namespace that was halted":   {[]string{"ns c sub-of b", "has c label c.tree.hnc.x-k8s.io/depth=0"}, ""},
		"a sub-namespace that is elsewhere": {[]string{"ns c sub-of x", "has c label b.tree.hnc.x-k8s.io/depth=1"}, "c below b"},
		"cascading deletion, allowed above": {append(chained, "has a label hnc.x-k8s.io/cascading-deletion=allowed", "has b label hnc.x-k8s.io/cascading-deletion=allowed"), "a cascading, b below a, c sub-of b"},
		"cascading deletion, allowed below": {append(chained, "has b label hnc.x-k8s.io/cascading-deletion=allowed", "has c label hnc.x-k8s.io/cascading-deletion=allowed"), "b below a cascading, c sub-of b"},
		"managed, from the root on":         {append(chained, treetest.Both("has a label m=1", "has b label m=1", "has c label m=1")...), "a labels m=1 annotations m=1, b below a, c sub-of b"},
		"managed, for a namespace only":     {append(chained, treetest.Both("has a label m=1")...), "a own labels m=1 own annotations m=1, b below a, c sub-of b"},
		"managed, otherwise further down":   {append(chained, "has a label m=1", "has b label m=2", "has c label m=2"), "a own labels m=1, b below a labels m=2, c sub-of b"},
		"managed by a leaf":                 {append(chained, "has c label m=1"), "b below a, c sub-of b labels m=1"},
		"other labels":                      {append(chained, "has a label x=1"), "b below a, c sub-of b"},
		"external":                          {append(chained, "has b manager other", "has b label m=1"), "c sub-of b"},
		"excluded":                          {append(chained, "has b label off="), "c sub-of b"},
		"below abstract ancestors": {[]string{"ns a", "has a label a.tree.hnc.x-k8s.io/depth=0", "has a label eng.tree.hnc.x-k8s.io/depth=1", "has a label top.tree.hnc.x-k8s.io/depth=2", "has a abstract eng.top",
			"ns b", "has b label a.tree.hnc.x-k8s.io/depth=1", "has b label eng.tree.hnc.x-k8s.io/depth=2", "has b abstract eng.top"}, "a abstract eng top, b below a"},
		"below a namespace with an abstract name": {[]string{"ns a", "ns eng", "has eng label eng.tree.hnc.x-k8s.io/depth=0", "has a label eng.tree.hnc.x-k8s.io/depth=1", "has a abstract eng"}, "a abstract eng"},
		"terminating": {append(chained, "terminating c"), "b below a"},
	} {
		t.Run(name, func(t *testing.T) {
			var records []string
			for _, r := range plan(treetest.New(test.given...)) {
				words := []string{r.name}
				switch {
				case r.subnamespace:
					words = append(words, "sub-of", r.parent)
				case r.parent != "":
					words = append(words, "below", r.parent)
				}
				if len(r.abstract) > 0 {
					words = append(words, "abstract", strings.Join(r.abstract, " "))
				}
				if r.cascading {
					words = append(words, "cascading")
				}
				for _, list := range []struct {
					what  string
					pairs []v1beta1.MetaKVP
				}{{"labels", r.metadata.Labels}, {"annotations", r.metadata.Annotations}, {"own labels", r.metadata.NamespaceLabels}, {"own annotations", r.metadata.NamespaceAnnotations}} {
					for _, pair := range list.pairs {
						words = append(words, fmt.Sprintf("%s %s=%s", list.what, pair.Key, pair.Value))
					}
				}
				records = append(records, strings.Join(words, " "))
			}
			if got := strings.Join(records, ", "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
