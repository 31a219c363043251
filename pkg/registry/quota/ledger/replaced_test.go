package ledger

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

func withUID(rq *corev1.ResourceQuota, uid types.UID) *corev1.ResourceQuota {
	rq.UID = uid
	return rq
}

// A tenant deletes a namespace that uses much, and creates one of its name below another quota, before it is recorded that
// the earlier one is gone.
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
