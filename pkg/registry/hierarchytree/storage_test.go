package hierarchytree

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Tenants decide how many problems there are, and how long the names in their messages are.
func TestMessagesOfATreeAreBounded(t *testing.T) {
	nodes := make([]hnc.HierarchyTreeNode, 1000)
	for i := range nodes {
		nodes[i].Conditions = []hnc.HierarchyTreeCondition{{Reason: "R", Message: strings.Repeat("x", 30<<10)}, {Reason: "R", Message: "short"}}
	}
	boundMessages(nodes)
	bytes := 0
	for _, n := range nodes {
		for _, c := range n.Conditions {
			bytes += len(c.Message)
			if c.Reason == "" || c.Message == "" {
				t.Fatalf("got %+v", c)
			}
		}
	}
	if first := nodes[0].Conditions[0].Message; len(first) != 30<<10 || bytes > maxMessages+2*len(nodes)*100 {
		t.Errorf("%d bytes, %d in the first", bytes, len(first))
	}
}
