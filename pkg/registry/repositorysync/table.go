package repositorysync

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.RepositorySync]{
	{Name: "Ready", Type: "string", Description: "Whether the cluster is as the last commit says.", Cell: func(s *hnc.RepositorySync) any {
		if c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady); c != nil {
			return string(c.Status)
		}
		return "Unknown"
	}},
	{Name: "Commit", Type: "string", Description: "The last commit that was applied completely.", Cell: func(s *hnc.RepositorySync) any {
		return short(s.Status.AppliedCommit)
	}},
	{Name: "Objects", Type: "integer", Description: "The number of objects in the repository.", Cell: func(s *hnc.RepositorySync) any { return int64(s.Status.Objects) }},
	{Name: "Status", Type: "string", Description: "The reason of the condition Ready.", Cell: func(s *hnc.RepositorySync) any {
		if c := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady); c != nil {
			return c.Reason
		}
		return ""
	}},
	{Name: "Source", Type: "string", Wide: true, Description: "The address of the repository.", Cell: func(s *hnc.RepositorySync) any { return s.Spec.Source.URL }},
}

// shortCommit is the length of an abbreviated commit.
const shortCommit = 7

func short(commit string) string { return commit[:min(shortCommit, len(commit))] }
