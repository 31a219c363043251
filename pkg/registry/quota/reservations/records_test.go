package reservations

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Use of any size may have been recorded, and any limit stored. One worker computes for all namespaces.
func TestRecordsAreBoundedBeforeTheyAreComputedWith(t *testing.T) {
	start := time.Now()
	u, err := decodeUse(fence.Entry{Value: []byte(`{"observed":1,"used":{"pods":"1e40000000","secrets":"2"},"reserved":{"pods":"1"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	rq := &corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Used: corev1.ResourceList{"pods": resource.MustParse("1e2147483647")}}}
	rq.Name, rq.ResourceVersion = hnc.ResourceQuotaName, "2"
	o, err := newOperation(rq)
	if err != nil {
		t.Fatal(err)
	}
	updated := o.apply(u)
	sum := quotav1.Add(updated.charge(), u.charge())
	if quotav1.Equals(sum, u.charge()) || quotav1.IsZero(sum) {
		t.Errorf("the sum is %v", sum)
	}
	// Earlier versions have written sums of use that was not bounded, or not exactly.
	if sum, err := decodeTotals(fence.Entry{Value: []byte(`{"":{"pods":"1e40000000"}}`)}); err != nil || sum.counts(limits.Enforced{Part: "1"}) {
		t.Errorf("a sum of an earlier version is not computed again: %v", err)
	}
	q := hnc.HierarchicalResourceQuota{Spec: hnc.HierarchicalResourceQuotaSpec{Hard: corev1.ResourceList{hnc.ResourceSubnamespaces: resource.MustParse("1e40000000")}}}
	q.Namespace, q.Name = "a", "q"
	if name, _ := limits.New(1, q).Subnamespaces("a"); name != "" {
		t.Error("a limit that cannot be counted is in force")
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it takes %s", took)
	}
}

// A limit of what is propagated from its namespace or above would keep out policy. What is propagated from below lifts
// no limit.
func TestLimitsOfPropagatedKindsDoNotHold(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	s.limit("b", "0")
	from := ""
	l.config.Propagated = func(resource schema.GroupResource, chain []string) bool {
		return resource.Resource == "pods" && slices.Contains(chain, from)
	}
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "1")); !apierrors.IsForbidden(err) {
		t.Errorf("without propagation: %v", err)
	}
	from = "b"
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "5")); err != nil {
		t.Errorf("with propagation from the quota's namespace: %v", err)
	}
	if err := l.Reserve(t.Context(), status("c", 10, "0"), status("c", 10, "1")); !apierrors.IsForbidden(err) {
		t.Errorf("above the limit of the root, with propagation from below: %v", err)
	}
	from = "a"
	if err := l.Reserve(t.Context(), status("c", 10, "0"), status("c", 10, "1")); err != nil {
		t.Errorf("with propagation from the root: %v", err)
	}
}

// kube-apiserver reports a zero for each limit.
func TestAReservationIsNotWrittenAgainWhenItIsStored(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	before, after := status("b", 10, "1"), status("b", 11, "2")
	for _, rq := range []*corev1.ResourceQuota{before, after} {
		rq.Status.Used[corev1.ResourceSecrets], rq.Status.Used[corev1.ResourceServices] = resource.MustParse("0"), resource.MustParse("3")
	}
	if err := l.Reserve(t.Context(), before, after); err != nil {
		t.Fatal(err)
	}
	record := string(s.records[key{namespace: "b"}.record()].Value)
	if strings.Contains(record, "secrets") || strings.Count(record, "services") > 1 || strings.Count(record, "pods") != 2 {
		t.Errorf("the record is %s", record)
	}
	revision := s.revision
	observe(t, l, after)
	if s.revision > revision {
		t.Error("the same use is written again")
	}
}

// The largest numbers are counted in two namespaces, and released. The limit must be in force again.
func TestSumsBeyondTheLargestNumberAreReleased(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	for version, use := range []string{"7Ei", "0"} {
		for _, namespace := range []string{"b", "c"} {
			observe(t, l, status(namespace, version+1, use))
			if err := l.Reserve(t.Context(), status("a", 1, "0"), status("a", 1, "6")); !apierrors.IsForbidden(err) {
				t.Errorf("6 of 5 pods, after %s uses %s: %v", namespace, use, err)
			}
		}
	}
	if err := l.Reserve(t.Context(), status("a", 1, "0"), status("a", 1, "5")); err != nil {
		t.Error(err)
	}
	if got := used(t, l, "a"); got != "5" {
		t.Errorf("got %s pods, want 5", got)
	}
}
