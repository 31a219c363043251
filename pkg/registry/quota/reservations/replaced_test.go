package reservations

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func withUID(rq *corev1.ResourceQuota, uid types.UID) *corev1.ResourceQuota {
	rq.UID = uid
	return rq
}

// A tenant deletes a namespace that uses much, and creates one of its name below another quota, before it is recorded
// that the earlier one is gone.
func TestANamespaceOfTheSameNameDoesNotLowerTheSumsOfItsTree(t *testing.T) {
	for name, first := range map[string]func(t *testing.T, l *Ledger){
		"a reservation": func(t *testing.T, l *Ledger) {
			if err := l.Reserve(t.Context(), withUID(status("n", 20, "0"), "new"), withUID(status("n", 20, "0"), "new")); err != nil {
				t.Error(err)
			}
		},
		"a stored status": func(t *testing.T, l *Ledger) { observe(t, l, withUID(status("n", 20, "0"), "new")) },
		"after the end of the earlier one": func(t *testing.T, l *Ledger) {
			observe(t, l, withUID(status("n", 20, "0"), "new"))
			observe(t, l, withUID(status("n", 11, "5"), "old"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(map[string]string{"s": "", "n": "s", "t": "", "other": "t"})
			l := s.replica(t, newCluster(t, "s", "n", "t", "other"))
			s.limit("s", "9")
			s.limit("t", "5")
			observe(t, l, withUID(status("n", 10, "5"), "old"))
			if err := l.Reserve(t.Context(), withUID(status("other", 12, "0"), "other"), withUID(status("other", 12, "4"), "other")); err != nil {
				t.Fatal(err)
			}
			// Nothing empties the ledgers: there was no namespace of the name.
			s.mu.Lock()
			s.parents["n"] = "t"
			s.mu.Unlock()
			first(t, l)
			if err := l.Reserve(t.Context(), withUID(status("n", 20, "0"), "new"), withUID(status("n", 20, "2"), "new")); !apierrors.IsForbidden(err) {
				t.Errorf("4 and 2 of 5: %v", err)
			}
			if err := l.Reserve(t.Context(), withUID(status("n", 20, "0"), "new"), withUID(status("n", 20, "1"), "new")); err != nil {
				t.Errorf("4 and 1 of 5: %v", err)
			}
			if got := used(t, l, "t"); got != "5" {
				t.Errorf("the sum is %s, want 5", got)
			}
			if got := used(t, l, "s"); got != "0" {
				t.Errorf("the sum of what it has left is %s, want 0", got)
			}
		})
	}
}

// The deletion of a record may wait for seconds, in which a tenant creates the namespace again and uses it.
func TestTheRecordOfANamespaceThatExistsAgainStays(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	observe(t, l, withUID(status("b", 10, "1"), "old"))
	k := key{namespace: "b"}
	// The namespace is created again, and reserves use, immediately after it was found to be gone.
	client := fake.NewClientset()
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		if err := l.Reserve(t.Context(), withUID(status("b", 20, "0"), "new"), withUID(status("b", 20, "3"), "new")); err != nil {
			t.Error(err)
		}
		return false, nil, nil
	})
	o := &Observer{ledger: l, client: client}
	records, err := o.read(t.Context(), []key{k})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.observe(t.Context(), k, records[0]); err != nil {
		t.Fatal(err)
	}
	if got := used(t, l, "a"); got != "3" {
		t.Errorf("got %s pods, want the 3 of the new namespace", got)
	}
}

// Operations that arrive at the same time share a transaction.
func TestTheRecordOfAReservationInTheSameTransactionStays(t *testing.T) {
	for name, later := range map[string]func(*operation){
		"gone":   func(o *operation) { o.gone, o.uid = true, "" },
		"forget": func(o *operation) { o.forget = true },
	} {
		t.Run(name, func(t *testing.T) {
			s, _, l := family(t)
			s.limit("a", "5")
			observe(t, l, status("b", 10, "1"))
			entries, err := s.Read(t.Context(), key{namespace: "b"}.record())
			if err != nil {
				t.Fatal(err)
			}
			reservation, err := newOperation(status("b", 10, "1"))
			if err != nil {
				t.Fatal(err)
			}
			second, err := newOperation(status("b", 10, "1"))
			if err != nil {
				t.Fatal(err)
			}
			reservation.reserve = pods("3")
			second.revision = entries[0].Revision
			later(second)
			// The ledger has a sum, so that the reservation needs no transaction of its own.
			if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "1")); err != nil {
				t.Fatal(err)
			}
			transaction, results, err := l.evaluate(t.Context(), []*operation{reservation, second}, true)
			if err != nil || len(results) != 2 {
				t.Fatalf("%d results, %v", len(results), err)
			}
			if u := transaction.uses[second.key]; u == nil || podsOf(&corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Used: u.Reserved}}) != 3 {
				t.Errorf("the record is %+v, want that with the reservation", u)
			}
		})
	}
}
