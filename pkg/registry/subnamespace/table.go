package subnamespace

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.Subnamespace]{
	{Name: "State", Type: "string", Description: "Ok, Missing, Conflict or Forbidden.",
		Cell: func(s *hnc.Subnamespace) any { return string(s.Status.State) }},
	{Name: "Ready", Type: "string", Description: "Whether the namespace can be used, with all that it inherits.",
		Cell: readyCell},
	{Name: "Conditions", Type: "string", Wide: true, Description: "The conditions of the sub-namespace.",
		Cell: func(s *hnc.Subnamespace) any { return table.Conditions(s.Status.Conditions) }},
}

func readyCell(s *hnc.Subnamespace) any {
	if condition := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady); condition != nil {
		return string(condition.Status)
	}
	return string(metav1.ConditionUnknown)
}
