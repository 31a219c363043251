package limits

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

// Each reservation asks for the quotas of its scope in all ancestors, and all trees share the goroutine that reserves.
func TestScopesAreComputedOnce(t *testing.T) {
	quotas := make([]hnc.HierarchicalResourceQuota, 10)
	for i := range quotas {
		quotas[i] = hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: string(rune('j' - i))}}
		quotas[i].Spec.ScopeSelector = &hnc.QuotaScopeSelector{MatchExpressions: []hnc.QuotaScopeRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{quotas[i].Name}}}}
	}
	l := New(1, quotas...)
	for _, q := range quotas {
		scope := quota.ScopeOf(&q.Spec)
		if of := l.Of("a", scope); len(of) != 1 || of[0].Name != q.Name || !l.Enforced([]string{"b", "a"}, scope) || l.Of("b", scope) != nil {
			t.Errorf("%s is not the quota of its scope: got %v", q.Name, of)
		}
	}
	if allocations := testing.AllocsPerRun(10, func() { l.Of("a", "none") }); allocations > 0 {
		t.Errorf("got %v allocations, want none: scopes are computed again", allocations)
	}
}
