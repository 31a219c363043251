package quota

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ResourceQuotas may have empty values, and so may quotas.
func TestEmptyValuesOfScopesTakeRoom(t *testing.T) {
	requirement := hnc.QuotaScopeRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: make([]string, 100)}
	spec := &hnc.HierarchicalResourceQuotaSpec{Hard: list("pods", "1"), ScopeSelector: &hnc.QuotaScopeSelector{
		MatchExpressions: slices.Repeat([]hnc.QuotaScopeRequirement{requirement}, 20)}}
	var room Room
	fit := 0
	for room.Add(ScopeOf(spec), Size(spec)) {
		fit++
	}
	if fit > 1 {
		t.Errorf("%d quotas with 2,000 values each fit into a chain, want at most one", fit)
	}
}
