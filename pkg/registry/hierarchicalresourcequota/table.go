package hierarchicalresourcequota

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.HierarchicalResourceQuota]{
	{Name: "Request", Type: "string", Description: "Use and limit of all resources but limits.",
		Cell: func(q *hnc.HierarchicalResourceQuota) any {
			requests, _ := hnc.QuotaSummaries(q.Status.Hard, q.Status.Used)
			return requests
		}},
	{Name: "Limit", Type: "string", Description: "Use and limit of limits.",
		Cell: func(q *hnc.HierarchicalResourceQuota) any {
			_, limits := hnc.QuotaSummaries(q.Status.Hard, q.Status.Used)
			return limits
		}},
}
