package hierarchy

import (
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.Hierarchy]{
	{Name: "Parent", Type: "string", Description: "The parent namespace, empty for a root.",
		Cell: func(h *hnc.Hierarchy) any { return h.Spec.Parent }},
	{Name: "Children", Type: "integer", Description: "The number of namespaces directly below.",
		Cell: func(h *hnc.Hierarchy) any { return int64(len(h.Status.Children)) }},
	{Name: "Cascading", Type: "boolean", Description: "Whether cascading deletion is allowed here.",
		Cell: func(h *hnc.Hierarchy) any {
			return h.Spec.AllowCascadingDeletion != nil && *h.Spec.AllowCascadingDeletion
		}},
	{Name: "Conditions", Type: "string", Wide: true, Description: "The conditions of the namespace.",
		Cell: func(h *hnc.Hierarchy) any {
			return table.Conditions(hnc.Details(h.Status.Conditions, h.Status.Problems))
		}},
	{Name: "Child Names", Type: "string", Wide: true, Description: "The namespaces directly below.",
		Cell: func(h *hnc.Hierarchy) any { return strings.Join(h.Status.Children, ",") }},
}
