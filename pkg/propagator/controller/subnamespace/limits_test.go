package subnamespace

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestFromWhichNamespacesPermissionsAreWithheld(t *testing.T) {
	there := []string{"ns p", "ns c sub-of p", "parent c p"}
	for name, test := range map[string]struct {
		given             []string
		pending, populate bool
	}{
		"a new sub-namespace":                  {append(there, "asked p c", "unlimited c s-c"), true, true},
		"created again for one that was ready": {append(there, "ready p c", "unlimited c s-c"), true, true},
		"limited":                              {append(there, "asked p c"), false, false},
		"created for an earlier Subnamespace":  {append(there, "asked p c", "unlimited c s-another"), true, true},
		"it stays without its Subnamespace":    {append(there, "unlimited c s-c"), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := treetest.New(test.given...)
			plan := planFor(tr, tree.Key{Parent: "p", Name: "c"}, treetest.Now)
			if tr.LimitsPending("c") != test.pending || plan.unlimited != test.populate || test.populate && plan.action != populate {
				t.Errorf("got %+v", plan)
			}
		})
	}
}
