package limits

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Each reservation asks for the quotas of its scope in all ancestors, and all trees share the goroutine that reserves.
func TestScopesAreComputedOnce(t *testing.T) {
	quotas := make([]hnc.HierarchicalResourceQuota, 10)
	for i := range quotas {
		quotas[i] = hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: string(rune('j' - i))}}
		quotas[i].Spec.ScopeSelector = &hnc.QuotaScopeSelector{MatchExpressions: []hnc.QuotaScopeRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{quotas[i].Name}}}}
	}
	enforced := New(1, quotas...).Enforced([]string{"b", "a"}, none)
	for _, q := range quotas {
		scope := quota.ScopeOf(&q.Spec)
		if of := enforced["a"].Of(scope); len(of) != 1 || of[0].Name != q.Name || enforced["b"].Of(scope) != nil {
			t.Errorf("%s is not the quota of its scope: got %v", q.Name, of)
		}
	}
	if allocations := testing.AllocsPerRun(10, func() { enforced["a"].Of("none") }); allocations > 0 {
		t.Errorf("got %v allocations, want none: scopes are computed again", allocations)
	}
}

func podQuota(name string, uid types.UID, generation int64, pods string) hnc.HierarchicalResourceQuota {
	q := hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: uid, Generation: generation}}
	q.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	return q
}

// The limits of all tenants would otherwise be validated again after each change of one of them.
func TestOnlyChangedQuotasAreComputedAgain(t *testing.T) {
	before := New(1, podQuota("same", "1", 1, "5"), podQuota("changed", "2", 1, "5"), podQuota("recreated", "3", 1, "5"))
	after := newFrom(before, 2, []hnc.HierarchicalResourceQuota{podQuota("same", "1", 1, "5"), podQuota("changed", "2", 2, "6"), podQuota("recreated", "4", 1, "6")})
	for i, q := range after.In("a") {
		if pods, same := q.Hard[corev1.ResourcePods], q.Name == "same"; (q == before.In("a")[i]) != same || (pods.Value() == 5) != same {
			t.Errorf("%s: got %s pods", q.Name, pods.String())
		}
	}
}

type atRevision int64

func (r atRevision) Read(context.Context, ...string) ([]fence.Entry, error) {
	return []fence.Entry{{Name: Record, Revision: int64(r)}}, nil
}

// Many requests wait for the limits after a change.
func TestLimitsOfARevisionAreComputedOnce(t *testing.T) {
	const calls = 3
	listing, list, results := make(chan bool), make(chan bool), make(chan *Limits)
	r := &Reader{Records: atRevision(1), List: func(context.Context) ([]hnc.HierarchicalResourceQuota, error) {
		listing <- true
		<-list
		return []hnc.HierarchicalResourceQuota{podQuota("q", "1", 1, "5")}, nil
	}}
	for range calls {
		go func() {
			l, err := r.Get(t.Context(), true)
			if err != nil {
				t.Error(err)
			}
			results <- l
		}()
	}
	for range calls {
		<-listing
	}
	close(list)
	first := <-results
	for range calls - 1 {
		if <-results != first {
			t.Error("the limits of a revision are computed again")
		}
	}
}
