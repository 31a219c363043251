package ledger

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestFailedReservationIsForgotten(t *testing.T) {
	s, c, l := family(t)
	s.limit("a", "5")
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "5")); err != nil {
		t.Fatal(err)
	}
	stored := status("b", 10, "0")
	if err := c.quotas.Add(stored); err != nil {
		t.Fatal(err)
	}
	o := &Observer{ledger: l, live: liveQuota{stored}}
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := used(t, l, "a"); got != "5" {
		t.Errorf("got %s pods, want 5: the write may be on its way", got)
	}
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := used(t, l, "a"); got != "0" {
		t.Errorf("got %s pods, want 0", got)
	}
}

// A reservation between the check and the write that forgets must not be forgotten.
func TestNewReservationIsNotForgotten(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "1")); err != nil {
		t.Fatal(err)
	}
	entries, err := s.Read(t.Context(), key{namespace: "b"}.record())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "2")); err != nil {
		t.Fatal(err)
	}
	forget, err := newOperation(status("b", 10, "0"))
	if err != nil {
		t.Fatal(err)
	}
	forget.forget, forget.revision = true, entries[0].Revision
	if err := l.do(t.Context(), forget); err != nil {
		t.Fatal(err)
	}
	if got := used(t, l, "a"); got != "2" {
		t.Errorf("got %s pods, want 2", got)
	}
}

type liveQuota struct{ rq *corev1.ResourceQuota }

func (q liveQuota) Namespace(context.Context, string) (*corev1.Namespace, error) {
	return &corev1.Namespace{}, nil
}

func (q liveQuota) ResourceQuota(context.Context, string, string) (*corev1.ResourceQuota, error) {
	return q.rq, nil
}

// An empty record hides nothing behind it: it once ended the check.
func TestCheckContinuesAfterAnEmptyRecord(t *testing.T) {
	s, c, l := family(t)
	s.limit("a", "5")
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "5")); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.put(key{namespace: "a"}.record(), nil)
	s.put(key{namespace: "c"}.record(), nil)
	s.mu.Unlock()
	stored := status("b", 10, "0")
	if err := c.quotas.Add(stored); err != nil {
		t.Fatal(err)
	}
	o := &Observer{ledger: l, live: liveQuota{stored}}
	for range 2 {
		if err := o.check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := used(t, l, "a"); got != "0" {
		t.Errorf("got %s pods, want 0: the write of the reservation has failed", got)
	}
}
