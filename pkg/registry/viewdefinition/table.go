package viewdefinition

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.ViewDefinition]{
	{Name: "Ready", Type: "string", Description: "Whether the custom resources can be used.", Cell: func(v *hnc.ViewDefinition) any {
		if c := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady); c != nil {
			return string(c.Status)
		}
		return "Unknown"
	}},
	{Name: "Status", Type: "string", Description: "The reason of the condition Ready.", Cell: func(v *hnc.ViewDefinition) any {
		if c := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady); c != nil {
			return c.Reason
		}
		return ""
	}},
}
