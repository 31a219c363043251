package reservations

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// cached returns a ResourceQuota as it is in the cache, which may transform it twice.
func cached(t *testing.T, rq *corev1.ResourceQuota) *corev1.ResourceQuota {
	t.Helper()
	for range 2 {
		if _, err := OnlyUse(rq); err != nil {
			t.Fatal(err)
		}
	}
	return rq
}

// Tenants choose the limits, of which each namespace below has a ResourceQuota.
func TestLimitsAreCachedAsNamesOnly(t *testing.T) {
	rq := status("a", 1, "2")
	rq.Status.Hard = corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"services", "pods", "count/x.y"} {
		rq.Status.Hard[name] = resource.MustParse("5")
	}
	rq.Status.Used[corev1.ResourceServices] = resource.MustParse("0")
	rq.Spec.Hard = rq.Status.Hard
	cached(t, rq)
	if rq.Status.Hard != nil || rq.Spec.Hard != nil || len(rq.Status.Used) != 1 {
		t.Errorf("got %v", rq)
	}
	if !hasCounted(rq, []corev1.ResourceName{"count/x.y", "pods", "services"}) || hasCounted(rq, []corev1.ResourceName{"pods", "secrets"}) {
		t.Errorf("the names of the limits are %q", rq.Annotations)
	}
	uncounted := status("a", 1, "0")
	uncounted.Annotations = map[string]string{"counted": "pods", "others": "x"}
	if cached(t, uncounted); hasCounted(uncounted, []corev1.ResourceName{"pods"}) || len(uncounted.Annotations) > 1 {
		t.Errorf("without limits in the status, the cache has the annotations %q", uncounted.Annotations)
	}
}
