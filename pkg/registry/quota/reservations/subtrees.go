package reservations

import (
	"context"
	"errors"
	"maps"

	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// maxSubtrees is the number of calls of Subtrees at the same time. Moves that are rejected, and dry runs of them,
// change nothing that another limit counts.
const maxSubtrees, maxSubtreesPerUser = 16, 4

// Subtrees returns the recorded use of the namespaces in moved, and of the subtree of each namespace in tops that has an
// enforced quota, by quorum reads on behalf of a requester. It fails with TooManyRequests if too many of these are under
// way.
func (l *Ledger) Subtrees(ctx context.Context, moved, tops []string) (treerules.ScopedUse, map[string]treerules.ScopedUse, error) {
	release, err := l.subtrees.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	known, err := l.config.Limits.Get(ctx, true)
	if err != nil {
		return nil, nil, err
	}
	enforced := map[string]limits.Enforced{}
	records := make([]string, len(tops))
	for i, top := range tops {
		records[i] = limits.Ledger(top)
		if _, above := enforced[top]; !above {
			chain, _, err := l.config.Tree.Ancestry(ctx, top, false)
			if err != nil {
				return nil, nil, err
			}
			maps.Copy(enforced, known.Enforced(chain, l.config.Tree.Excluded))
		}
	}
	// The ledgers are read before what they are summed up from.
	entries, err := l.config.Records.Read(ctx, records...)
	if err != nil {
		return nil, nil, err
	}
	sums := make(map[string]treerules.ScopedUse, len(tops))
	var empty []string
	for i, top := range tops {
		if !enforced[top].Counted() { // Nothing limits the use, so no ledger contains it.
			continue
		}
		of, err := decodeTotals(entries[i])
		if err != nil {
			return nil, nil, err
		}
		if sums[top] = treerules.ScopedUse(of); !of.counts(enforced[top]) {
			empty = append(empty, top)
		}
	}
	if len(empty) > 0 {
		summed, err := l.sumUp(ctx, empty, enforced, nil)
		var missing *missingUseError
		if err != nil && !errors.As(err, &missing) { // The observer records what is missing soon.
			return nil, nil, err
		}
		for top, of := range summed {
			sums[top] = treerules.ScopedUse(of)
		}
	}
	sum := treerules.ScopedUse{}
	for u, err := range l.stored(ctx, foldersOf(moved)...) {
		if err != nil {
			return nil, nil, err
		}
		sum[u.scope] = quotav1.Add(sum[u.scope], u.charge())
	}
	return sum, sums, nil
}
