package reservations

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

const (
	// maxSums is the number of trees in which operations sum up records at the same time.
	maxSums = 2
	// countInterval is how often the time of those that wait is counted at least.
	countInterval = time.Second
	// lostPause is how long a tree waits after a sum was lost.
	lostPause = 20 * time.Millisecond
	// waitedPerSecond and waitedBurst bound the time that reservations wait for the turn of their tree, in milliseconds.
	// Each that waits occupies one of the five workers that kube-apiserver's quota admission has for all namespaces.
	waitedPerSecond, waitedBurst = 1000, 20_000
	// longestWaitDebt bounds the debt of a tree, as longestDebt does in bytes.
	longestWaitDebt = 2 * waitedBurst / waitedPerSecond * time.Second
)

// summing are the operations that have to sum up records of use. Each tree has one at a time, and trees take turns:
// whoever changes a tree all the time, so that its sums are lost, or has very many records, does not keep others from
// theirs.
type summing struct {
	// waiting are in the order of their turns.
	waiting []*operation
	// running holds the roots of the trees in which an operation is tried.
	running sets.Set[string]
	// tried receives each operation that was tried.
	tried chan tried
	// waited counts the time that reservations have waited, until counted.
	waited  *tenantrates.Rates
	counted time.Time
}

// tried is an operation of a tree that was tried. It has no result if the tree has changed meanwhile.
type tried struct {
	*operation
	root     string
	answered bool
}

func newSumming() *summing {
	return &summing{
		running: sets.Set[string]{}, tried: make(chan tried, maxSums),
		waited: tenantrates.New(waitedPerSecond, waitedBurst), counted: time.Now(),
	}
}

// take moves operations that have to sum up records here, and returns the others.
func (s *summing) take(operations []*operation) (others []*operation) {
	for _, o := range operations {
		if o.sums {
			s.waiting = append(s.waiting, o)
		} else {
			others = append(others, o)
		}
	}
	return others
}

// hold has operations wait that are in the tree of one that is tried, because they could make it lose its sum, or fail
// if they yield, and returns the others.
func (l *Ledger) hold(ctx context.Context, s *summing, operations []*operation) (others []*operation) {
	s.count()
	if len(s.running) == 0 {
		return operations
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, o := range operations {
		if root := l.treeOf(ctx, o); s.running.Has(root) {
			o.sums, o.root = true, root
		}
	}
	return s.take(slices.DeleteFunc(operations, func(o *operation) bool {
		busy := o.sums && o.yields
		if busy {
			o.done <- errBusy
		}
		return busy
	}))
}

// treeOf returns the root of the tree that an operation changes, as far as this replica knows it. That of a namespace
// that has left its tree is in its record, as in transaction.chain. An operation whose tree is not known is rejected
// later.
func (l *Ledger) treeOf(ctx context.Context, o *operation) string {
	if o.gone || l.terminates(o.namespace) {
		if entry, known := l.cached.get(o.record()); known {
			if u, err := decodeUse(entry); err == nil && u != nil && len(u.Ancestors) > 0 {
				return u.Ancestors[len(u.Ancestors)-1]
			}
		}
	}
	chain, _, err := l.config.Tree.Ancestry(ctx, o.namespace, false)
	if err != nil {
		return ""
	}
	return chain[len(chain)-1]
}

// next returns the operation whose turn it is, nil if there is none. The caller tries it.
func (s *summing) next() *operation {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *operation) bool { return o.left.Load() })
	i := slices.IndexFunc(s.waiting, func(o *operation) bool { return !s.running.Has(o.root) })
	if i < 0 || len(s.running) == maxSums {
		return nil
	}
	o := s.waiting[i]
	var same, others []*operation
	for _, waiting := range slices.Delete(s.waiting, i, i+1) {
		if waiting.root == o.root {
			same = append(same, waiting)
		} else {
			others = append(others, waiting)
		}
	}
	s.waiting = slices.Concat(others, same)
	s.running.Insert(o.root)
	return o
}

// end ends the turn of a tree. It returns the operations of the tree if one has been answered: they need no sums of
// their own if they need those that have been recorded.
func (s *summing) end(t tried) (operations []*operation) {
	s.count()
	s.running.Delete(t.root)
	if !t.answered {
		s.waiting = append(s.waiting, t.operation)
		return nil
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(o *operation) bool {
		if o.root != t.root {
			return false
		}
		o.sums = false
		operations = append(operations, o)
		return true
	})
	return operations
}

// count counts the time for which reservations have waited for the turn of their tree.
func (s *summing) count() {
	now := time.Now()
	waited := now.Sub(s.counted).Truncate(time.Millisecond)
	for _, o := range s.waiting {
		if o.reserve != nil {
			s.waited.Spend(now, o.root, int(waited.Milliseconds()), longestWaitDebt)
		}
	}
	s.counted = s.counted.Add(waited)
}

// limit has waiting reservations fail if those of their tree, or of all trees, have waited too long lately. The one
// whose tree has the next turn stays, so that at most maxSums and one more continue to occupy workers of kube-apiserver.
func (s *summing) limit() {
	now, next := time.Now(), true
	s.waiting = slices.DeleteFunc(s.waiting, func(o *operation) bool {
		if o.reserve == nil || s.waited.Allow(now, o.root, 0) {
			return false
		}
		if next && !s.running.Has(o.root) {
			next = false
			return false
		}
		o.done <- errBusy
		return true
	})
}

// sum tries an operation of a tree once.
func (l *Ledger) sum(ctx context.Context, s *summing, o *operation, root string) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := time.Now()
	alone := []*operation{o}
	results, err := l.try(limited, alone, true)
	lost := errors.Is(err, fence.ErrLost) && limited.Err() == nil
	switch {
	case err == nil:
		answer(alone, results, start)
	case lost:
		select {
		case <-ctx.Done():
		case <-time.After(lostPause):
		}
	default:
		fail(ctx, alone, err)
	}
	s.tried <- tried{o, root, !lost}
}
