package reservations

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
)

// a is the root of b and c.
func family(t *testing.T) (*store, *cluster, *Ledger) {
	t.Helper()
	s := newStore(map[string]string{"b": "a", "c": "a"})
	c := newCluster(t, "a", "b", "c", "elsewhere")
	return s, c, s.replica(t, c)
}

func TestSumOverTheSubtreeIsLimited(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "3")); err != nil {
		t.Fatal(err)
	}
	err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "3"))
	if want := `exceeded hierarchical quota in namespace "a": "all", requested: pods=3, used: pods=3, limited: pods=5`; !apierrors.IsForbidden(err) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "2")); err != nil {
		t.Error(err)
	}
	if got := used(t, l, "a"); got != "5" {
		t.Errorf("got %s pods, want 5", got)
	}
}

// What needs more than a transaction of etcd fails alone.
func TestANamespaceThatIsTooDeepFailsAlone(t *testing.T) {
	parents, names := map[string]string{"beside": "n0"}, []string{"n0", "beside"}
	for i := 1; i <= 100; i++ {
		names = append(names, fmt.Sprint("n", i))
		parents[names[len(names)-1]] = fmt.Sprint("n", i-1)
	}
	s, c := newStore(parents), newCluster(t, names...)
	for i := range 30 {
		s.limit(fmt.Sprint("n", i), "5")
	}
	l := s.replica(t, c)
	if err := l.Reserve(t.Context(), status("n100", 1, "0"), status("n100", 1, "1")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "too far from its root") {
		t.Errorf("got %v", err)
	}
	if err := l.Reserve(t.Context(), status("beside", 1, "0"), status("beside", 1, "1")); err != nil {
		t.Error(err)
	}
}

// A list has the use of a subtree, whose size tenants choose, as the depth of their trees.
func TestUseIsSummedUpOnceForAllAncestors(t *testing.T) {
	parents, names := map[string]string{}, []string{"n0"}
	for i := 1; i < 40; i++ {
		names = append(names, fmt.Sprint("n", i))
		parents[names[i]] = names[i-1]
	}
	s, c := newStore(parents), newCluster(t, names...)
	for _, name := range names {
		s.limit(name, "5")
	}
	l := s.replica(t, c)
	if err := l.Reserve(t.Context(), status("n39", 1, "0"), status("n39", 1, "2")); err != nil {
		t.Fatal(err)
	}
	if s.lists > 1 {
		t.Errorf("%d lists", s.lists)
	}
	for _, name := range []string{"n0", "n20", "n39"} {
		if got := used(t, l, name); got != "2" {
			t.Errorf("%s: got %s pods, want 2", name, got)
		}
	}
}

// Several writes can ask for the same version, and only one of them can succeed.
func TestReservationsOfOneVersionAreCountedOnce(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	for _, after := range []string{"2", "3", "1"} {
		if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, after)); err != nil {
			t.Fatal(err)
		}
	}
	if got := used(t, l, "a"); got != "3" {
		t.Errorf("got %s pods, want the greatest reservation, 3", got)
	}
}

// A decrease that is written from the same version as a reservation must not release it before it is stored.
func TestOnlyStoredDecreasesRelease(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	observe(t, l, status("b", 10, "4"))
	if err := l.Reserve(t.Context(), status("b", 10, "4"), status("b", 10, "5")); err != nil {
		t.Fatal(err)
	}
	observe(t, l, status("b", 9, "1"))
	observe(t, l, status("b", 10, "4"))
	if got := used(t, l, "a"); got != "5" {
		t.Errorf("got %s pods, want 5: the reservation may still succeed", got)
	}
	observe(t, l, status("b", 11, "1"))
	if got := used(t, l, "a"); got != "1" {
		t.Errorf("got %s pods, want 1: the reservation has lost", got)
	}
}

func TestUseOverTheLimitIsRecordedAndBlocksOnlyIncreases(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	observe(t, l, status("b", 10, "9"))
	if got := used(t, l, "a"); got != "9" {
		t.Errorf("got %s pods, want 9", got)
	}
	if err := l.Reserve(t.Context(), status("b", 10, "9"), status("b", 10, "10")); !apierrors.IsForbidden(err) {
		t.Errorf("an increase over the limit: got %v", err)
	}
	secrets := func(n string) *corev1.ResourceQuota {
		rq := status("b", 10, "9")
		rq.Status.Used[corev1.ResourceSecrets] = pods(n)[corev1.ResourcePods]
		return rq
	}
	if err := l.Reserve(t.Context(), secrets("0"), secrets("1")); err != nil {
		t.Errorf("an increase of another resource: %v", err)
	}
}

func TestLoweredLimitAppliesAtOnce(t *testing.T) {
	s, c, l := family(t)
	other := s.replica(t, c)
	s.limit("a", "5")
	for _, replica := range []*Ledger{l, other} {
		if err := replica.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "1")); err != nil {
			t.Fatal(err)
		}
	}
	s.limit("a", "1")
	for _, replica := range []*Ledger{l, other} {
		if err := replica.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "1")); !apierrors.IsForbidden(err) {
			t.Errorf("got %v, want Forbidden", err)
		}
	}
}

func TestUseMovesWithTheNamespace(t *testing.T) {
	s, c, l := family(t)
	other := s.replica(t, c)
	s.limit("a", "5")
	s.limit("elsewhere", "5")
	observe(t, l, status("b", 10, "4"))
	observe(t, l, status("c", 10, "1"))
	if err := other.Reserve(t.Context(), status("elsewhere", 11, "0"), status("elsewhere", 11, "1")); err != nil {
		t.Fatal(err)
	}
	s.move("b", "elsewhere")
	if got, want := used(t, l, "a")+" "+used(t, l, "elsewhere"), "1 5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := other.Reserve(t.Context(), status("elsewhere", 12, "1"), status("elsewhere", 12, "2")); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden: what has moved counts", err)
	}
	if err := other.Reserve(t.Context(), status("c", 11, "1"), status("c", 11, "5")); err != nil {
		t.Errorf("what has moved away counts still: %v", err)
	}
}

// A tenant could otherwise delete a sub-namespace whose pods take a long time to terminate, and use the room again.
func TestUseOfATerminatingNamespaceCountsUntilItIsGone(t *testing.T) {
	s, c, l := family(t)
	s.limit("a", "5")
	observe(t, l, status("b", 10, "5"))
	terminating := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b", DeletionTimestamp: &metav1.Time{}}}
	if err := c.namespaces.Update(terminating); err != nil {
		t.Fatal(err)
	}
	s.move("b", "")
	if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "1")); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden", err)
	}
	if err := c.namespaces.Delete(terminating); err != nil {
		t.Fatal(err)
	}
	end(t, s, l, "b")
	if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "5")); err != nil {
		t.Error(err)
	}
}

func TestLostRecordsAreTakenFromTheCluster(t *testing.T) {
	s, c, l := family(t)
	s.limit("a", "5")
	observe(t, l, status("b", 10, "4"))
	if err := c.quotas.Add(status("b", 10, "4")); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	for name := range s.records {
		delete(s.records, name)
	}
	s.mu.Unlock()
	s.limit("a", "5")
	if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "2")); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden: the cluster still uses 4", err)
	}
	if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "1")); err != nil {
		t.Error(err)
	}
}

func TestRecordsOfALedgerAreWithinTheLimitOfEtcd(t *testing.T) {
	parents := map[string]string{}
	names := []string{"n0"}
	for i := 1; i < 60; i++ {
		names = append(names, "n"+string(rune('0'+i/10))+string(rune('0'+i%10)))
		parents[names[i]] = names[i-1]
	}
	s := newStore(parents)
	l := s.replica(t, newCluster(t, names...))
	for _, name := range names {
		s.limit(name, "5")
	}
	// The store panics if a transaction is too large.
	if err := l.Reserve(t.Context(), status(names[59], 10, "0"), status(names[59], 10, "1")); err != nil {
		t.Fatal(err)
	}
	entries, err := s.Read(t.Context(), limits.Ledger(names[0]))
	if err != nil || len(entries[0].Value) == 0 {
		t.Errorf("the root has no ledger: %v", err)
	}
}

// A reservation may arrive when the server stops already.
func TestReservationsAreRejectedWhenTheServerStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o := &operation{done: make(chan error, 1)}
	New(Config{}).process(ctx, []*operation{o})
	if err := <-o.done; !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v, want ServiceUnavailable", err)
	}
}
