package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// Subtrees returns the recorded use of the namespaces in moved, and of the subtree of each namespace in tops, by quorum reads.
func (l *Ledger) Subtrees(ctx context.Context, moved, tops []string) (tree.ScopedUse, map[string]tree.ScopedUse, error) {
	stored, err := l.stored(ctx)
	if err != nil {
		return nil, nil, err
	}
	sum := totals{}
	for k, s := range stored {
		if slices.Contains(moved, k.namespace) {
			sum.add(k.scope, s.charge())
		}
	}
	sums := make(map[string]tree.ScopedUse, len(tops))
	for _, top := range tops {
		of, err := l.subtree(ctx, top)
		if err != nil {
			return nil, nil, err
		}
		sums[top] = tree.ScopedUse(of)
	}
	return tree.ScopedUse(sum), sums, nil
}

// subtree returns the recorded use of the subtree of a namespace.
func (l *Ledger) subtree(ctx context.Context, top string) (totals, error) {
	entries, err := l.config.Records.Read(ctx, limits.Ledger(top))
	if err != nil {
		return nil, err
	}
	if sum, err := decodeTotals(entries[0]); err != nil || sum != nil {
		return sum, err
	}
	sum, err := l.sumUp(ctx, top, nil)
	var missing *missingUseError
	if errors.As(err, &missing) {
		// The observer records it soon.
		err = nil
	}
	return sum, err
}
