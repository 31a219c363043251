package tenantview

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.TenantView]{
	{Name: "Ready", Type: "string", Description: "Whether the view can be used.", Cell: func(v *hnc.TenantView) any {
		if c := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady); c != nil {
			return string(c.Status)
		}
		return "Unknown"
	}},
	{Name: "Names", Type: "string", Description: "The names of namespaces in the view.", Cell: func(v *hnc.TenantView) any { return string(v.Spec.Names) }},
	{Name: "Members", Type: "integer", Description: "The number of namespaces in the view.", Cell: func(v *hnc.TenantView) any { return int64(v.Status.Members) }},
	{Name: "Shadowed", Type: "integer", Description: "The number of namespaces that the view does not show.", Cell: func(v *hnc.TenantView) any { return int64(len(v.Status.Shadowed)) }},
	{Name: "Status", Type: "string", Description: "The reason of the condition Ready.", Cell: func(v *hnc.TenantView) any {
		if c := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady); c != nil {
			return c.Reason
		}
		return ""
	}},
	{Name: "Server", Type: "string", Wide: true, Description: "The path of the view at kube-apiserver.", Cell: func(v *hnc.TenantView) any { return v.Status.Server }},
}
