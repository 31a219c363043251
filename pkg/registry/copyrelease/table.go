package copyrelease

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.CopyRelease]{
	{Name: "Copy", Type: "string", Description: "The copy.",
		Cell: func(r *hnc.CopyRelease) any { return r.Spec.Resource + "/" + r.Spec.Name }},
	{Name: "Conditions", Type: "string", Description: "What became of it.",
		Cell: func(r *hnc.CopyRelease) any { return table.Conditions(r.Status.Conditions) }},
}
