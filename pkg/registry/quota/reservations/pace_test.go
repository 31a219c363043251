package reservations

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
)

// longNames returns a status with a number of resources with names of 1 KiB besides a pod.
func longNames(namespace string, version, names int) *corev1.ResourceQuota {
	rq := status(namespace, version, "0")
	for i := range names {
		rq.Status.Used[corev1.ResourceName(fmt.Sprintf("requests.%d.%s/x", i, strings.Repeat("r", 1000)))] = resource.MustParse("1")
	}
	return rq
}

// What was replaced stays in etcd until the next compaction. Trees and reservations with few bytes do not wait for it.
func TestReservationsThatWriteManyBytesArePaced(t *testing.T) {
	const names = 16
	synctest.Test(t, func(t *testing.T) {
		s, c := newStore(map[string]string{"b": "a", "c": "a", "e": "d"}), newCluster(t, "a", "b", "c", "d", "e")
		s.limit("a", "100000")
		s.limit("d", "100000")
		l := s.replica(t, c)
		reserve := func(namespace string, version, names int) error {
			old, updated := longNames(namespace, version, names), longNames(namespace, version, names)
			updated.Status.Used[corev1.ResourcePods] = *resource.NewQuantity(int64(version), resource.DecimalSI)
			return l.Reserve(t.Context(), old, updated)
		}
		n := 1
		for reserve("b", n, names) == nil {
			if n++; n > burst/(names<<10-small) {
				t.Fatal("any number of bytes is written")
			}
		}
		if n < burst/(names<<10)/2 {
			t.Errorf("only %d reservations are written", n)
		}
		err := reserve("b", n, names)
		if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), `namespace "b"`) {
			t.Errorf("got %v, want TooManyRequests", err)
		}
		// kube-apiserver's quota admission, whose workers all namespaces share, would wait and repeat the reservation.
		for _, err := range []error{err, errBusy} {
			if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
				t.Errorf("%v: is to be repeated after %d s", err, seconds)
			}
		}
		for what, err := range map[string]error{
			"a small reservation in the tree":   reserve("c", 1, 4),
			"a large one in another tree":       reserve("e", 1, names),
			"what is observed in the same tree": observed(t.Context(), l, longNames("b", n, names)),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		time.Sleep(time.Second)
		if err := reserve("b", n+1, names); err != nil {
			t.Errorf("a second later: %v", err)
		}
	})
}

// What is written without a reservation does not wait. However much it is, reservations in other trees do not pay for it.
func TestUseThatIsObservedDelaysNoOtherTree(t *testing.T) {
	const names, observations = 24, 2000
	synctest.Test(t, func(t *testing.T) {
		s, c := newStore(map[string]string{"b": "a", "e": "d"}), newCluster(t, "a", "b", "d", "e")
		s.limit("a", "100000")
		s.limit("d", "100000")
		l := s.replica(t, c)
		for n := range observations {
			rq := longNames("b", n+1, names)
			rq.Status.Used[corev1.ResourcePods] = *resource.NewQuantity(int64(n+1), resource.DecimalSI)
			observe(t, l, rq)
		}
		reserve := func(namespace string) error {
			old, updated := longNames(namespace, observations, names), longNames(namespace, observations, names)
			updated.Status.Used[corev1.ResourcePods] = resource.MustParse("5000")
			return l.Reserve(t.Context(), old, updated)
		}
		if err := reserve("b"); !apierrors.IsTooManyRequests(err) {
			t.Errorf("in the tree of what is observed: got %v, want TooManyRequests", err)
		}
		if err := reserve("e"); err != nil {
			t.Errorf("in another tree: %v", err)
		}
	})
}

func observed(ctx context.Context, l *Ledger, rq *corev1.ResourceQuota) error {
	o, err := newOperation(rq)
	if err != nil {
		return err
	}
	return l.do(ctx, o)
}
