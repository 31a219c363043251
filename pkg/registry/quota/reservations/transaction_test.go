package reservations

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// etcd rejects a transaction of more than 1.5 MiB, so one that is large takes no further operation.
func TestTransactionsAreOfLimitedSize(t *testing.T) {
	for _, row := range []struct{ bytes, want int }{{1 << 10, 5}, {200 << 10, 3}, {300 << 10, 2}, {600 << 10, 1}} {
		s, c := newStore(map[string]string{"n0": "root", "n1": "root", "n2": "root", "n3": "root", "n4": "root"}), newCluster(t, "root", "n0", "n1", "n2", "n3", "n4")
		s.limit("root", "1000")
		l := s.ledger(c)
		var batch []*operation
		for i := range 5 {
			rq := status(fmt.Sprintf("n%d", i), 1, "1")
			for j := range row.bytes >> 10 {
				name := fmt.Sprintf("requests.%d.%s/x", j, strings.Repeat("r", 1000))
				rq.Status.Used[corev1.ResourceName(name)] = resource.MustParse("1")
			}
			o, err := newOperation(rq)
			if err != nil {
				t.Fatal(err)
			}
			batch = append(batch, o)
		}
		transaction, results, err := l.evaluate(t.Context(), batch, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(results) != row.want || transaction.size() > maxBytes+row.bytes*2 {
			t.Errorf("of 5 operations of %d bytes, %d fit into a transaction of %d bytes; want %d", row.bytes, len(results), transaction.size(), row.want)
		}
	}
}

// One operation could otherwise fail those of all trees.
func TestAnOperationThatCannotBeWrittenFailsAlone(t *testing.T) {
	s, c := newStore(map[string]string{"b": "a", "c": "a"}), newCluster(t, "a", "b", "c")
	s.limit("a", "10")
	large := key{namespace: "b"}.record()
	s.rejects = func(t *fence.Transaction) error {
		if _, put := t.Put[large]; put {
			return errors.New("etcdserver: request is too large")
		}
		return nil
	}
	batch := []*operation{withUse(t, status("b", 1, "1")), withUse(t, status("c", 1, "1"))}
	for _, o := range batch {
		o.done = make(chan error, 1)
	}
	if rest := s.ledger(c).process(t.Context(), batch); len(rest) > 0 {
		t.Errorf("%d operations are left", len(rest))
	}
	if err := <-batch[0].done; !apierrors.IsServiceUnavailable(err) {
		t.Errorf("the operation that cannot be written: %v", err)
	}
	if err := <-batch[1].done; err != nil {
		t.Errorf("the other one: %v", err)
	}
}

// All trees would wait for the sum.
func TestNothingIsSummedUpWhereOperationsAreTriedOneByOne(t *testing.T) {
	s, c := newStore(map[string]string{"b": "a"}), newCluster(t, "a", "b", "eve")
	s.limit("a", "10")
	s.limit("eve", "10")
	s.rejects = func(*fence.Transaction) error { return errors.New("etcdserver: request is too large") }
	reserving := withUse(t, status("eve", 1, "1"))
	reserving.reserve = pods("2")
	batch := []*operation{withUse(t, status("b", 1, "1")), reserving, withUse(t, status("a", 1, "1"))}
	for _, o := range batch {
		o.done = make(chan error, 1)
	}
	rest := s.ledger(c).process(t.Context(), batch)
	if len(rest) != 1 || rest[0] != reserving || !reserving.sums || reserving.root != "eve" || s.lists > 0 {
		t.Errorf("%d operations are left, after %d lists of use; want the one that needs a sum", len(rest), s.lists)
	}
	for _, o := range []*operation{batch[0], batch[2]} {
		if err := <-o.done; !apierrors.IsServiceUnavailable(err) {
			t.Errorf("an operation that cannot be written: %v", err)
		}
	}
}

// A transaction that compared ledgers which it does not write would lose against others for nothing.
func TestLedgersThatStayAreNotCompared(t *testing.T) {
	s, c := newStore(map[string]string{"b": "a", "c": "a"}), newCluster(t, "a", "b", "c")
	s.limit("a", "10")
	l := s.replica(t, c)
	observe(t, l, status("b", 1, "1"))
	s.move("b", "c")
	for used, want := range map[string]bool{"1": false, "2": true} {
		o, err := newOperation(status("b", 2, used))
		if err != nil {
			t.Fatal(err)
		}
		transaction, results, err := l.evaluate(t.Context(), []*operation{o}, true)
		if err != nil || results[0] != nil {
			t.Fatal(results, err)
		}
		if _, compared := transaction.write.Unchanged[limits.Ledger("a")]; compared != want || transaction.write.Put[o.record()] == nil {
			t.Errorf("%s pods after 1: compared: %v, want %v; written: %q", used, compared, want, transaction.write.Put)
		}
	}
}

// The use of a namespace that is gone is in the ledger that was read.
func TestAnEmptiedLedgerStaysEmptyInItsTransaction(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "10")
	observe(t, l, status("b", 1, "1"))
	if err := l.Reserve(t.Context(), status("c", 1, "0"), status("c", 1, "1")); err != nil {
		t.Fatal(err)
	}
	gone := &operation{key: key{namespace: "b"}, gone: true, revision: s.records[key{namespace: "b"}.record()].Revision}
	transaction, results, err := l.evaluate(t.Context(), []*operation{gone, withUse(t, status("c", 2, "3"))}, true)
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	if ledger, put := transaction.write.Put[limits.Ledger("a")]; !put || len(ledger) > 0 {
		t.Errorf("the ledger is %q, want that it is emptied", ledger)
	}
}
