package reservations

import (
	"context"
	"errors"
	"maps"
	"slices"

	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// transaction evaluates operations one after the other, and collects what they compare and write.
type transaction struct {
	ledger *Ledger
	fresh  bool
	limits *limits.Limits
	write  fence.Transaction
	// uses and totals hold the records as they are after the operations so far. A nil use does not exist.
	uses   map[key]*use
	totals map[string]totals
	// large holds, by root, the bytes beyond small that the operations write.
	large map[string]int
	// unverified is set if an operation needs no write.
	unverified bool
}

// evaluate evaluates as many operations of a batch as fit into one transaction. It returns a result for
// each; the others are evaluated later. Without fresh, the results are based on what this replica knows. An operation
// that has to sum up records, which takes long where there are many, is marked and has no result: no other one waits
// for it, or fails with it. One that is marked already does so, alone.
func (l *Ledger) evaluate(ctx context.Context, batch []*operation, fresh bool) (*transaction, []error, error) {
	known, err := l.config.Limits.Get(ctx, fresh)
	if err != nil {
		return nil, nil, err
	}
	empty := func() *transaction {
		return &transaction{ledger: l, fresh: fresh, limits: known, uses: map[key]*use{}, totals: map[string]totals{}, large: map[string]int{},
			write: fence.Transaction{Edges: map[string]int64{}, Unchanged: map[string]int64{limits.Record: known.Revision}, Put: map[string][]byte{}}}
	}
	t := empty()
	if fresh {
		// One read instead of one for each operation.
		names := make([]string, len(batch))
		for i, o := range batch {
			names[i] = o.record()
		}
		if _, err := l.read(ctx, true, names...); err != nil {
			return nil, nil, err
		}
	}
	var results []error
	for _, o := range batch {
		chain, edges, err := t.chain(ctx, o.key, o.gone)
		if err != nil {
			return nil, nil, err
		}
		// Each ancestor and the use itself are compared and written.
		if len(results) > 0 && (t.write.Operations()+len(edges)+len(chain)+len(o.present)+1 > maxOperations || t.size() > maxBytes) {
			break
		}
		if o.sums && len(batch) > 1 {
			break
		}
		enforced := t.limits.Enforced(chain, l.config.Tree.Excluded)
		if !o.sums {
			unknown, err := t.unknown(ctx, o.limited(chain, enforced), enforced)
			if err != nil {
				return nil, nil, err
			}
			if len(unknown) > 0 {
				o.sums, o.root = true, chain[len(chain)-1]
				break
			}
		}
		result, err := t.evaluate(ctx, o, chain, edges, enforced)
		if err != nil {
			return nil, nil, err
		}
		if len(results) == 0 && t.write.Operations() > etcdOperations {
			// Others in the batch must not fail with it.
			return empty(), []error{errTooDeep}, nil
		}
		results = append(results, result)
	}
	return t, results, nil
}

// errReplaced is the result of an operation whose record is that of an earlier ResourceQuota of the name. Ledgers above
// either of both may contain its use, so the record is deleted first.
var errReplaced = errors.New("the record is that of an earlier ResourceQuota")

// errTooDeep is the result of an operation that needs more than one transaction.
var errTooDeep = forbidden("hierarchical quotas cannot be evaluated, because the namespace is too far from its root, or has too many quotas above; move it closer to the root")

// size returns the size of what is written.
func (t *transaction) size() (n int) {
	for _, value := range t.write.Put {
		n += len(value)
	}
	return n
}

// chain returns the namespace of a record of use and its ancestors, the root last, and the edges on which this is
// based. A namespace that is being deleted, or gone, leaves the tree before its objects are gone; then they are those
// of the record.
func (t *transaction) chain(ctx context.Context, k key, gone bool) ([]string, map[string]int64, error) {
	if gone || t.ledger.terminates(k.namespace) {
		u, err := t.use(ctx, k)
		if err != nil {
			return nil, nil, err
		}
		if u != nil {
			return u.Ancestors, nil, nil
		}
	}
	return t.ledger.config.Tree.Ancestry(ctx, k.namespace, t.fresh)
}

// counted returns those of a chain whose quotas count use.
func (t *transaction) counted(chain []string) []string {
	return slices.DeleteFunc(slices.Clone(chain), func(namespace string) bool { return !t.limits.Counted(namespace) })
}

// evaluate evaluates one operation. The result is Forbidden if it would exceed a limit, and TooManyRequests if it is
// large and its tree has written much lately.
func (t *transaction) evaluate(ctx context.Context, o *operation, chain []string, edges map[string]int64, enforced map[string]limits.Enforced) (result, err error) {
	ancestors := t.counted(chain)
	old, err := t.use(ctx, o.key)
	if err != nil {
		return nil, err
	}
	switch {
	case o.gone && o.uid == "" && !t.has(o), o.gone && o.uid != "" && !o.replaces(old):
		t.unverified = true
		return nil, nil
	case !o.gone && o.replaces(old) && o.version < old.Observed && !o.forget:
		// It is the earlier one, whose writes fail; or the cluster was restored, which the observer finds out.
		if t.unverified = true; o.reserve != nil {
			return errBusy, nil
		}
		return nil, nil
	case !o.gone && o.replaces(old):
		return errReplaced, nil
	}
	updated := o.apply(old)
	if updated != nil {
		updated = &use{UID: updated.UID, Observed: updated.Observed, Used: updated.Used, Reserved: updated.Reserved, Ancestors: chain}
		if t.ledger.terminates(o.namespace) && old != nil {
			updated.Ancestors = old.Ancestors
		}
	}
	change := quotav1.Subtract(updated.charge(), old.charge())
	if len(ancestors) == 0 && old == nil || o.forget && !t.has(o) {
		t.unverified = true
		return nil, nil
	}
	if o.reserve != nil {
		if result, err = t.exceeded(ctx, o, chain, enforced, change); result != nil || err != nil {
			return result, err
		}
	}
	if old == nil && updated == nil || old.equal(updated) || o.reserve == nil && !o.forget && old.chargesAs(updated) {
		t.unverified = true
		return nil, nil
	}
	if quotav1.IsZero(change) {
		ancestors = nil // Their ledgers stay.
	} else if o.gone {
		ancestors = append(ancestors, t.counted(o.present)...)
	}
	if err := t.read(ctx, ancestors); err != nil {
		return nil, err
	}
	if updated != nil {
		if result = t.pace(o, updated, ancestors, enforced, chain[len(chain)-1]); result != nil {
			return result, nil
		}
	}
	maps.Copy(t.write.Edges, edges)
	t.setUse(o.key, updated)
	for _, ancestor := range ancestors {
		if o.gone {
			// The ledgers of other ancestors contain the use if the namespace was moved immediately before its
			// deletion, or if one of its name exists again.
			t.empty(ancestor)
		} else {
			t.charge(ancestor, enforced[ancestor], o.key, change)
		}
	}
	return nil, nil
}

// use returns the record of use of a ResourceQuota, nil if there is none.
func (t *transaction) use(ctx context.Context, k key) (*use, error) {
	if u, ok := t.uses[k]; ok {
		return u, nil
	}
	entries, err := t.ledger.read(ctx, false, k.record())
	if err != nil {
		return nil, err
	}
	entry := entries[k.record()]
	u, err := decodeUse(entry)
	if err != nil {
		return nil, err
	}
	t.uses[k] = u
	t.write.Unchanged[entry.Name] = entry.Revision
	return u, nil
}

// has reports whether the record of an operation, which has been read, has the revision of the operation. A record that
// an earlier operation of the transaction writes has not.
func (t *transaction) has(o *operation) bool {
	name := o.record()
	_, put := t.write.Put[name]
	return !put && !slices.Contains(t.write.Delete, name) && t.write.Unchanged[name] == o.revision
}

func (t *transaction) setUse(k key, u *use) {
	t.uses[k] = u
	name := k.record()
	if u == nil {
		delete(t.write.Put, name)
		t.write.Delete = append(t.write.Delete, name)
		return
	}
	t.write.Delete = slices.DeleteFunc(t.write.Delete, func(deleted string) bool { return deleted == name })
	t.write.Put[name] = encode(u)
}

// terminates reports whether a namespace is being deleted or gone, according to the cache.
func (l *Ledger) terminates(name string) bool {
	namespace, err := l.config.Namespaces.Get(name)
	return err != nil || namespace.DeletionTimestamp != nil
}
