package reservations

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
)

// missingUseError reports ResourceQuotas below a namespace whose use is not recorded.
type missingUseError struct{ uses []*operation }

func (e *missingUseError) Error() string {
	return fmt.Sprintf("the use of %d ResourceQuotas is not recorded yet", len(e.uses))
}

// sumUp returns the sums of the records of use below namespaces, whose ledgers have been read before, for the quotas that
// are enforced. Records in changed replace the stored ones. It fails with a missingUseError if use is not recorded, as
// after a loss of records.
func (l *Ledger) sumUp(ctx context.Context, namespaces []string, enforced map[string]limits.Enforced, changed map[key]*use) (map[string]totals, error) {
	recomputations.Inc()
	// A change of the tree empties the ledger. The tree contains the changes that have emptied those that were read,
	// and a later change loses the transaction its fence.
	if err := l.config.Tree.WaitUntilFresh(ctx); err != nil {
		return nil, err
	}
	s := &sum{ledger: l, enforced: enforced, totals: make(map[string]totals, len(namespaces)), recorded: map[key]bool{}, above: ancestries{l, map[string][]string{}}}
	for _, namespace := range namespaces {
		s.totals[namespace] = newTotals(enforced[namespace])
	}
	inside := l.inside(namespaces)
	terminating, err := l.config.Terminating()
	if err != nil {
		return nil, err
	}
	for k, u := range changed {
		if u == nil {
			continue
		}
		if err := s.add(ctx, k, u); err != nil {
			return nil, err
		}
	}
	for u, err := range l.stored(ctx, foldersOf(sets.List(inside.Union(sets.New(terminating...))))...) {
		if err != nil {
			return nil, err
		}
		if _, replaced := changed[u.key]; replaced {
			continue
		}
		if err := s.add(ctx, u.key, u.use); err != nil {
			return nil, err
		}
	}
	return s.totals, s.missing(ctx, inside)
}

// inside returns namespaces and all below them by the edges. Their records are those of their subtrees, besides the
// records of namespaces that have left the tree because they are being deleted. Those of namespaces that are gone count
// no more: nothing is used there, and their deletion empties the ledgers.
func (l *Ledger) inside(namespaces []string) sets.Set[string] {
	inside := sets.Set[string]{}
	for _, namespace := range slices.Backward(namespaces) {
		if !inside.Has(namespace) {
			inside.Insert(namespace).Insert(l.config.Tree.Descendants(namespace)...)
		}
	}
	return inside
}

// sum sums up records of use.
type sum struct {
	ledger *Ledger
	// enforced are the quotas that are enforced, by namespace.
	enforced map[string]limits.Enforced
	// totals are the sums of the namespaces that are its keys.
	totals map[string]totals
	// recorded holds the keys of the records so far. The records themselves may be too many to be kept.
	recorded map[key]bool
	above    ancestries
}

// add adds a record.
func (s *sum) add(ctx context.Context, k key, u *use) error {
	s.recorded[k] = true
	chain, err := s.above.of(ctx, k.namespace, u)
	if err != nil {
		return err
	}
	for _, at := range chain {
		if sum, wanted := s.totals[at]; wanted {
			sum.add(k.scope, u.charge(), s.enforced[at].Of(k.scope))
		}
	}
	return nil
}

// ancestries remembers the ancestors of namespaces.
type ancestries struct {
	ledger *Ledger
	known  map[string][]string
}

// of returns a namespace and those above it, to whose subtrees a record of use in it belongs.
func (a ancestries) of(ctx context.Context, namespace string, u *use) ([]string, error) {
	if u != nil && a.ledger.terminates(namespace) {
		return u.Ancestors, nil
	}
	if chain, known := a.known[namespace]; known {
		return chain, nil
	}
	chain, _, err := a.ledger.config.Tree.Ancestry(ctx, namespace, false)
	if err == nil {
		a.known[namespace] = chain
	}
	return chain, err
}

// missing returns a missingUseError if ResourceQuotas in the namespaces inside have use that is not recorded.
func (s *sum) missing(ctx context.Context, inside sets.Set[string]) error {
	missing := &missingUseError{}
	for namespace := range inside {
		if s.ledger.terminates(namespace) {
			continue
		}
		quotas, err := s.ledger.config.Quotas.ResourceQuotas(namespace).List(ours)
		if err != nil {
			return err
		}
		chain, err := s.above.of(ctx, namespace, nil)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(chain, func(at string) bool { return s.totals[at] != nil }) {
			continue
		}
		for _, rq := range quotas {
			if o, err := newOperation(rq); err == nil && !s.recorded[o.key] && len(rq.Status.Used) > 0 {
				missing.uses = append(missing.uses, o)
			}
		}
	}
	if len(missing.uses) > 0 {
		return missing
	}
	return nil
}

// ours selects the ResourceQuotas of ours.
var ours = labels.SelectorFromSet(labels.Set{hnc.LabelQuota: "true"})
