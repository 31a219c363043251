package reservations

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// totals is the use of a subtree by scope, of the resources that the enforced quotas in its namespace limit: what other
// quotas count must not enlarge it. Nil stands for use that is not known, because the subtree has changed.
type totals map[quota.Scope]corev1.ResourceList

// newTotals returns the totals of no use.
func newTotals(enforced limits.Enforced) totals { return totals{partKey(enforced): nil} }

// counts reports whether totals are those of the quotas that are enforced. While others were, as before a move or
// another quota above, use was not added. A change of the quotas in the namespace itself empties its ledger.
func (t totals) counts(enforced limits.Enforced) bool {
	_, ok := t[partKey(enforced)]
	return ok
}

// partKey returns the key of an empty list in totals that says of which quotas they are. It is no scope.
func partKey(enforced limits.Enforced) quota.Scope { return quota.Scope("quotas " + enforced.Part) }

// decodeTotals returns nil for a ledger that is empty.
func decodeTotals(entry fence.Entry) (totals, error) {
	if len(entry.Value) == 0 {
		return nil, nil
	}
	t := totals{}
	if err := json.Unmarshal(entry.Value, &t); err != nil {
		return nil, fmt.Errorf("the record %s cannot be read: %w", entry.Name, err)
	}
	return t, nil
}

// add adds the part of an amount that quotas limit.
func (t totals) add(scope quota.Scope, amount corev1.ResourceList, quotas []*limits.Quota) {
	var limited []corev1.ResourceName
	for _, q := range quotas {
		limited = append(limited, quotav1.ResourceNames(q.Counted)...)
	}
	if amount = quotav1.Mask(amount, limited); len(amount) > 0 {
		sum := quotav1.Add(t[scope], amount)
		for name := range amount {
			sum[name] = hnc.Exact(sum[name])
		}
		t[scope] = quotav1.RemoveZeros(sum)
	}
}

// read reads the ledgers of namespaces, and has the transaction compare them.
func (t *transaction) read(ctx context.Context, namespaces []string) error {
	var names []string
	for _, namespace := range namespaces {
		if _, read := t.totals[namespace]; !read {
			names = append(names, limits.Ledger(namespace))
		}
	}
	entries, err := t.ledger.read(ctx, t.fresh, names...)
	if err != nil {
		return err
	}
	for _, namespace := range namespaces {
		entry, read := entries[limits.Ledger(namespace)]
		if !read {
			continue
		}
		if t.totals[namespace], err = decodeTotals(entry); err != nil {
			return err
		}
		t.write.Unchanged[entry.Name] = entry.Revision
	}
	return nil
}

// known returns what a ledger that was read contains for the enforced quotas of its namespace, nil if it must be summed
// up again.
func (t *transaction) known(namespace string, enforced limits.Enforced) totals {
	if sum := t.totals[namespace]; sum.counts(enforced) {
		return sum
	}
	return nil
}

// unknown returns those of the namespaces whose ledgers do not contain the use that the enforced quotas limit.
func (t *transaction) unknown(ctx context.Context, namespaces []string, enforced map[string]limits.Enforced) ([]string, error) {
	if err := t.read(ctx, namespaces); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(namespaces), func(namespace string) bool { return t.known(namespace, enforced[namespace]) != nil }), nil
}

// sumUp sums up the records of use for those of the namespaces whose ledgers are not known. The transaction writes the
// results.
func (t *transaction) sumUp(ctx context.Context, namespaces []string, enforced map[string]limits.Enforced) error {
	unknown, err := t.unknown(ctx, namespaces, enforced)
	if err != nil || len(unknown) == 0 {
		return err
	}
	sums, err := t.ledger.sumUp(ctx, unknown, enforced, t.uses)
	if err != nil {
		return err
	}
	for namespace, sum := range sums {
		t.totals[namespace] = sum
		t.write.Put[limits.Ledger(namespace)] = encode(sum)
	}
	return nil
}

// empty has a ledger summed up again.
func (t *transaction) empty(namespace string) {
	t.totals[namespace] = nil
	t.write.Put[limits.Ledger(namespace)] = []byte{}
}

// charge adds a change of use to a ledger. If it is not known, it is emptied: it would not contain the change when its
// quotas are enforced again. An empty one is written nevertheless, so that a replica that is summing up the uses loses.
func (t *transaction) charge(namespace string, enforced limits.Enforced, k key, change corev1.ResourceList) {
	sum := t.known(namespace, enforced)
	if sum == nil {
		t.empty(namespace)
		return
	}
	sum.add(k.scope, change, enforced.Of(k.scope))
	t.write.Put[limits.Ledger(namespace)] = encode(sum)
}
