package reservations

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
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
	o := &Observer{ledger: l, client: liveQuotas(stored)}
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := used(t, l, "a"); got != "5" {
		t.Errorf("got %s pods, want 5: the write may be on its way", got)
	}
	// The observer yields while the sum for the last one ends, and looks again.
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		err := o.check(ctx)
		if errors.Is(err, errBusy) {
			return false, nil
		}
		return true, err
	}); err != nil {
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

// liveQuotas returns a cluster with the namespace b and some ResourceQuotas in it.
func liveQuotas(quotas ...runtime.Object) *fake.Clientset {
	return fake.NewClientset(append(quotas, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}})...)
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
	o := &Observer{ledger: l, client: liveQuotas(stored)}
	for range 2 {
		if err := o.check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := used(t, l, "a"); got != "0" {
		t.Errorf("got %s pods, want 0: the write of the reservation has failed", got)
	}
}

// countingRecords counts reads.
type countingRecords struct {
	*store
	reads int
}

func (r *countingRecords) Read(ctx context.Context, names ...string) ([]fence.Entry, error) {
	r.reads++
	return r.store.Read(ctx, names...)
}

func TestRecordsOfManyResourceQuotasAreReadAtOnce(t *testing.T) {
	const n = 20
	parents := map[string]string{"a": ""}
	for i := range n {
		parents["b"+strconv.Itoa(i)] = "a"
	}
	s, c := newStore(parents), newCluster(t, slices.Collect(maps.Keys(parents))...)
	s.limit("a", "100")
	l := s.replica(t, c)
	o := &Observer{ledger: l, queue: newQueue[key]()}
	for i := range n {
		name := "b" + strconv.Itoa(i)
		if err := l.Reserve(t.Context(), status(name, 10, "0"), status(name, 10, "5")); err != nil {
			t.Fatal(err)
		}
		// The last one uses less than was reserved; the others need no write.
		stored := status(name, 11, "5")
		if i == n-1 {
			stored = status(name, 11, "1")
		}
		if err := c.quotas.Add(stored); err != nil {
			t.Fatal(err)
		}
		if i < n-1 {
			o.enqueue(stored)
		}
	}
	counting := &countingRecords{store: s}
	o.ledger.config.Records = counting
	o.queue.ShutDown()
	o.observeAll(t.Context())
	if counting.reads != 1 {
		t.Errorf("got %d reads, want 1", counting.reads)
	}
	o.queue = newQueue[key]()
	o.queue.Add(key{namespace: "b" + strconv.Itoa(n-1)})
	o.queue.ShutDown()
	o.observeAll(t.Context())
	if got := used(t, l, "a"); got != "96" {
		t.Errorf("got %s pods, want 96", got)
	}
}

// Each ResourceQuota of a tree whose sums are being computed fails for now.
func TestFailuresOfOneTreeDelayNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &Observer{queue: newQueue[key]()}
		defer o.queue.ShutDown()
		begin, ann := time.Now(), key{namespace: "ann"}
		for i := range 5000 {
			o.finish(t.Context(), key{namespace: "eve-" + strconv.Itoa(i)}, errBusy)
		}
		arrives := func(within time.Duration) {
			t.Helper()
			for k, _ := o.queue.Get(); k != ann; k, _ = o.queue.Get() {
				o.queue.Done(k)
			}
			if waited := time.Since(begin); waited > within {
				t.Errorf("another tree has waited for %s", waited)
			}
		}
		o.finish(t.Context(), ann, errBusy)
		arrives(time.Second)
		for range 100 {
			begin = time.Now()
			o.finish(t.Context(), ann, errBusy)
			arrives(maxBackoff)
		}
	})
}

// Quotas of many scopes, created from the lowest namespace up, would otherwise leave a record for each.
func TestTheRecordOfAScopeThatIsNoLongerEnforcedIsDeleted(t *testing.T) {
	s, _, l := family(t)
	scoped := func(namespace, class string) hnc.HierarchicalResourceQuota {
		return hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: class}, Spec: hnc.HierarchicalResourceQuotaSpec{Hard: pods("5"),
			ScopeSelector: &hnc.QuotaScopeSelector{MatchExpressions: []hnc.QuotaScopeRequirement{
				{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{class}}}}}}
	}
	below := scoped("b", "below")
	s.quotas = append(s.quotas, below)
	s.put(limits.Record, nil)
	k := key{"b", quota.ScopeOf(&below.Spec)}
	recorded := status("b", 10, "1")
	recorded.Name = k.scope.ObjectName()
	observe(t, l, recorded)
	o := &Observer{ledger: l, client: liveQuotas()}
	check := func() bool {
		records, err := o.read(t.Context(), []key{k})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.observe(t.Context(), k, records[0]); err != nil {
			t.Fatal(err)
		}
		if records, err = o.read(t.Context(), []key{k}); err != nil {
			t.Fatal(err)
		}
		return records[0].Revision > 0
	}
	if !check() {
		t.Error("the record of an enforced scope is deleted: its ResourceQuota will be created again")
	}
	s.mu.Lock()
	for i := range quota.MaxChainScopes {
		s.quotas = append(s.quotas, scoped("a", strconv.Itoa(i)))
	}
	s.revision++
	s.put(limits.Record, nil)
	s.mu.Unlock()
	if check() {
		t.Error("the record stays")
	}
}

// The propagator deletes the ResourceQuotas below an excluded namespace that only quotas above it needed.
func TestRecordsBelowAnExcludedNamespaceStayForQuotasBelowItOnly(t *testing.T) {
	for _, row := range []struct {
		limited, excluded string
		gone              bool
	}{
		{limited: "a"},
		{limited: "a", excluded: "x", gone: true},
		{limited: "x", excluded: "x", gone: true},
		{limited: "b", excluded: "x"},
		{limited: "a", excluded: "b", gone: true},
		{limited: "b", excluded: "b", gone: true},
	} {
		s := newStore(map[string]string{"b": "x", "x": "a"})
		s.limit(row.limited, "5")
		s.excluded = []string{row.excluded}
		o := &Observer{ledger: s.ledger(newCluster(t)), client: liveQuotas()}
		if gone, err := o.gone(t.Context(), key{namespace: "b"}); err != nil || gone != row.gone {
			t.Errorf("%+v: %t, %v", row, gone, err)
		}
	}
}
