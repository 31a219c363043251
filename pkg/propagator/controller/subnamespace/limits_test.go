package subnamespace

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestFromWhichNamespacesPermissionsAreWithheld(t *testing.T) {
	there := []string{"ns p", "ns c sub-of p", "parent c p"}
	for name, test := range map[string]struct {
		given []string
		want  bool
	}{
		"a new sub-namespace":                        {append(there, "asked p c", "unlimited c s-c"), true},
		"created again for one that was ready":       {append(there, "ready p c", "unlimited c s-c"), true},
		"limited":                                    {append(there, "asked p c"), false},
		"created for an earlier Subnamespace":        {append(there, "asked p c", "unlimited c s-another"), false},
		"without a Subnamespace, and its finalizers": {append(there, "unlimited c s-c"), false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := treetest.New(test.given...)
			plan := planFor(tr, tree.Key{Parent: "p", Name: "c"}, treetest.Now)
			if plan.unlimited != test.want || tr.LimitsPending("c") != test.want || test.want && plan.action != populate {
				t.Errorf("got %+v", plan)
			}
		})
	}
}
