package hncconfiguration

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.HNCConfiguration]{
	{Name: "Kinds", Type: "integer", Description: "The number of kinds that are acted upon.",
		Cell: func(c *hnc.HNCConfiguration) any { return int64(len(c.Status.Resources)) }},
	{Name: "Copies", Type: "integer", Description: "The number of copies of all kinds.", Cell: copiesCell},
	{Name: "Conditions", Type: "string", Wide: true, Description: "The conditions of the configuration.",
		Cell: func(c *hnc.HNCConfiguration) any {
			return table.Conditions(hnc.Details(c.Status.Conditions, c.Status.Problems))
		}},
}

func copiesCell(c *hnc.HNCConfiguration) any {
	var sum int64
	for _, r := range c.Status.Resources {
		if r.NumPropagatedObjects != nil {
			sum += int64(*r.NumPropagatedObjects)
		}
	}
	return sum
}
