package reservations

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Use that was counted for a new limit is known when the limit is in force, before the observer has seen it.
func TestSettleRecordsWhatWasThereBefore(t *testing.T) {
	s, c, l := family(t)
	s.limit("a", "1")
	s.quotas[0].Status.Hard = s.quotas[0].Spec.Hard
	observe(t, l, status("b", 10, "0"))
	counted := func(namespace string, version int, used string) *corev1.ResourceQuota {
		rq := status(namespace, version, used)
		rq.Status.Hard = pods("1")
		return cached(t, rq)
	}
	waits := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*settleInterval)
		defer cancel()
		return l.Settle(ctx, &s.quotas[0], "a") != nil
	}
	if !waits() {
		t.Error("settled without ResourceQuotas")
	}
	ignored := s.quotas[0]
	ignored.Status.Hard = nil
	if err := l.Settle(t.Context(), &ignored, "a"); err != nil {
		t.Errorf("without limits that are in force: %v", err)
	}
	// Namespaces outside the subtree do not matter.
	for _, name := range []string{"a", "b", "c"} {
		if err := c.quotas.Add(counted(name, 11, "0")); err != nil {
			t.Fatal(err)
		}
	}
	uncounted := status("b", 11, "0")
	uncounted.Status.Hard = corev1.ResourceList{}
	if err := c.quotas.Update(cached(t, uncounted)); err != nil {
		t.Fatal(err)
	}
	if !waits() {
		t.Error("settled before the use was counted in b")
	}
	if err := c.quotas.Update(counted("b", 12, "1")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := l.Settle(ctx, &s.quotas[0], "a"); err != nil {
		t.Fatal(err)
	}
	if got := used(t, l, "a"); got != "1" {
		t.Errorf("%s pods are recorded, want 1", got)
	}
	if err := l.Reserve(t.Context(), status("a", 11, "0"), status("a", 11, "1")); err == nil {
		t.Errorf("a second pod is reserved below %s", hnc.ResourceQuotaName)
	}
}
