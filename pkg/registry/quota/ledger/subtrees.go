package ledger

import (
	"context"
	"errors"
	"slices"

	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// Subtrees returns the recorded use of the namespaces in moved, and of the subtree of each namespace in tops, by quorum
// reads.
func (l *Ledger) Subtrees(ctx context.Context, moved, tops []string) (tree.ScopedUse, map[string]tree.ScopedUse, error) {
	stored, err := l.stored(ctx)
	if err != nil {
		return nil, nil, err
	}
	sum := tree.ScopedUse{}
	for k, s := range stored {
		if slices.Contains(moved, k.namespace) {
			sum[k.scope] = quotav1.Add(sum[k.scope], s.charge())
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
	return sum, sums, nil
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
	known, err := l.config.Limits.Get(ctx, true)
	if err != nil {
		return nil, err
	}
	sum, err := l.sumUp(ctx, top, known, nil)
	var missing *missingUseError
	if errors.As(err, &missing) {
		// The observer records it soon.
		err = nil
	}
	return sum, err
}
