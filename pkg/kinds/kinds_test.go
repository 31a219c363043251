package kinds

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestNumbersOfEnforcedKindsAreNotLimited(t *testing.T) {
	var counts []corev1.ResourceName
	for _, resource := range Enforced {
		counts = append(counts, corev1.ResourceName("count/"+resource.String()))
	}
	if !slices.Equal(counts, hnc.EnforcedCounts) {
		t.Errorf("enforced are %v, but quotas may not limit %v", counts, hnc.EnforcedCounts)
	}
}
