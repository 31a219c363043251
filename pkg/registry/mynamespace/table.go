package mynamespace

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// newTableConvertor returns the columns of kubectl get.
func newTableConvertor() rest.TableConvertor {
	return table.New(
		table.Column[hnc.MyNamespace]{Name: "Parent", Type: "string", Description: "The parent namespace, empty for a root.",
			Cell: func(n *hnc.MyNamespace) any { return n.Status.Parent }},
		table.Column[hnc.MyNamespace]{Name: "Depth", Type: "integer", Description: "The distance from the root.",
			Cell: func(n *hnc.MyNamespace) any { return int64(n.Status.Depth) }},
		table.Column[hnc.MyNamespace]{Name: "Root", Type: "string", Description: "The root of the tree.",
			Cell: func(n *hnc.MyNamespace) any { return n.Status.Root }},
		table.Column[hnc.MyNamespace]{Name: "Status", Type: "string", Description: "Active or Terminating.",
			Cell: func(n *hnc.MyNamespace) any { return n.Status.Phase }},
		table.Column[hnc.MyNamespace]{Name: "Kind", Type: "string", Wide: true, Description: "Full, Subnamespace or External.",
			Cell: func(n *hnc.MyNamespace) any { return string(n.Status.Kind) }},
	)
}
