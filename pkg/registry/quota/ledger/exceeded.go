package ledger

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
)

// exceeded returns a Forbidden error if a reservation changes the use of a subtree to more than a limit, the root
// first. Resources that the write does not increase are not limited, so use that exceeds a limit already blocks nothing
// else.
func (t *transaction) exceeded(ctx context.Context, o *operation, chain, ancestors []string, change corev1.ResourceList) (result, err error) {
	limited := t.limited(o, ancestors)
	if err := t.sumUp(ctx, limited); err != nil {
		return nil, err
	}
	for _, ancestor := range slices.Backward(limited) {
		quotas, sum := t.limits.Of(ancestor, o.scope), t.totals[ancestor]
		for i := range quotas {
			over := excess(quotas[i].Spec.Hard, sum[o.scope], change, o.used, o.reserve)
			over = slices.DeleteFunc(over, func(e quota.Excess) bool {
				return t.ledger.config.Mode.Propagates(e.Resource, chain[slices.Index(chain, ancestor):])
			})
			if len(over) > 0 {
				return forbidden(quota.ExceededMessage(ancestor, quotas[i].Name, over)), nil
			}
		}
	}
	return nil, nil
}

// forbidden returns a Forbidden error with a plain message, because kube-apiserver names the object.
func forbidden(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message,
	}}
}

// excess returns the resources that exceed a limit if a write increases the use from before to after, and the charge by
// change.
func excess(hard, sum, change, before, after corev1.ResourceList) []quota.Excess {
	var over []quota.Excess
	for _, e := range quota.Exceeding(quota.Counted(hard), sum, change) {
		e.Requested = after[e.Resource].DeepCopy()
		if e.Requested.Sub(before[e.Resource]); e.Requested.Sign() > 0 {
			over = append(over, e)
		}
	}
	return over
}

// limited returns those of the ancestors whose quotas limit a reservation.
func (t *transaction) limited(o *operation, ancestors []string) []string {
	if o.reserve == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(ancestors), func(namespace string) bool { return len(t.limits.Of(namespace, o.scope)) == 0 })
}

// emptied returns those of the namespaces whose ledgers are empty.
func (t *transaction) emptied(ctx context.Context, namespaces []string) (empty []string, err error) {
	for _, namespace := range namespaces {
		sum, err := t.known(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			empty = append(empty, namespace)
		}
	}
	return empty, nil
}

// sumUp sums up the records of use for those of the namespaces whose ledgers are empty. The transaction writes the
// results.
func (t *transaction) sumUp(ctx context.Context, namespaces []string) error {
	empty, err := t.emptied(ctx, namespaces)
	if err != nil || len(empty) == 0 {
		return err
	}
	sums, err := t.ledger.sumUp(ctx, empty, t.limits, t.uses)
	if err != nil {
		return err
	}
	for namespace, sum := range sums {
		t.totals[namespace] = sum
		t.write.Put[limits.Ledger(namespace)] = encode(sum)
	}
	return nil
}

// missingUseError reports ResourceQuotas below a namespace whose use is not recorded.
type missingUseError struct{ uses []*operation }

func (e *missingUseError) Error() string {
	return fmt.Sprintf("the use of %d ResourceQuotas is not recorded yet", len(e.uses))
}

// sumUp returns the sums of the records of use below namespaces, whose ledgers have been read before. Those in changed
// replace the stored ones. It fails with a missingUseError if use is not recorded, as after a loss of records.
func (l *Ledger) sumUp(ctx context.Context, namespaces []string, known *limits.Limits, changed map[key]*use) (map[string]totals, error) {
	recomputations.Inc()
	// A change of the tree empties the ledger. The tree contains the changes that have emptied those that were read,
	// and a later change loses the transaction its fence.
	if err := l.config.Tree.WaitUntilFresh(ctx); err != nil {
		return nil, err
	}
	stored, err := l.stored(ctx)
	if err != nil {
		return nil, err
	}
	uses := make(map[key]*use, len(stored))
	for k, s := range stored {
		uses[k] = s.use
	}
	maps.Copy(uses, changed)
	sums := make(map[string]totals, len(namespaces))
	for _, namespace := range namespaces {
		sums[namespace] = totals{}
	}
	above := ancestries{l, map[string][]string{}}
	for k, u := range uses {
		if u == nil {
			continue
		}
		chain, err := above.of(ctx, k.namespace, u)
		if err != nil {
			return nil, err
		}
		for _, at := range chain {
			if sum, wanted := sums[at]; wanted {
				sum.add(k.scope, u.charge(), known.Of(at, k.scope))
			}
		}
	}
	return sums, l.missing(ctx, sums, uses, above)
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

// missing returns a missingUseError if ResourceQuotas below the namespaces of sums have use that is not recorded.
func (l *Ledger) missing(ctx context.Context, sums map[string]totals, uses map[key]*use, above ancestries) error {
	all, err := l.config.Quotas.List(ours)
	if err != nil {
		return err
	}
	missing := &missingUseError{}
	for _, rq := range all {
		o, err := newOperation(rq)
		if err != nil || uses[o.key] != nil || len(rq.Status.Used) == 0 || l.terminates(rq.Namespace) {
			continue
		}
		chain, err := above.of(ctx, rq.Namespace, nil)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(chain, func(at string) bool { return sums[at] != nil }) {
			missing.uses = append(missing.uses, o)
		}
	}
	if len(missing.uses) > 0 {
		return missing
	}
	return nil
}

// ours selects the ResourceQuotas of ours.
var ours = labels.SelectorFromSet(labels.Set{hnc.LabelQuota: "true"})
