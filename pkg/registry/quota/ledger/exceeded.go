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
	for _, ancestor := range slices.Backward(ancestors) {
		quotas := t.limits.Of(ancestor, o.scope)
		if len(quotas) == 0 {
			continue
		}
		sum, err := t.sum(ctx, ancestor)
		if err != nil {
			return nil, err
		}
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

// sum returns the ledger of a namespace. If it is empty, the records of use are summed up, and the transaction writes
// the result.
func (t *transaction) sum(ctx context.Context, namespace string) (totals, error) {
	sum, err := t.known(ctx, namespace)
	if err != nil || sum != nil {
		return sum, err
	}
	if sum, err = t.ledger.sumUp(ctx, namespace, t.limits, t.uses); err != nil {
		return nil, err
	}
	t.totals[namespace] = sum
	t.write.Put[limits.Ledger(namespace)] = encode(sum)
	return sum, nil
}

// missingUseError reports ResourceQuotas below a namespace whose use is not recorded.
type missingUseError struct{ uses []*operation }

func (e *missingUseError) Error() string {
	return fmt.Sprintf("the use of %d ResourceQuotas is not recorded yet", len(e.uses))
}

// sumUp returns the sum of the records of use below a namespace. Those in changed replace the stored ones. It fails
// with a missingUseError if use is not recorded, as after a loss of records.
func (l *Ledger) sumUp(ctx context.Context, namespace string, known *limits.Limits, changed map[key]*use) (totals, error) {
	recomputations.Inc()
	// A change of the tree empties the ledger. The tree contains the changes that have emptied the one that was read,
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
	sum := totals{}
	for k, u := range uses {
		if u == nil {
			continue
		}
		below, err := l.below(ctx, k.namespace, namespace, u)
		if err != nil {
			return nil, err
		}
		if below {
			sum.add(k.scope, u.charge(), known.Of(namespace, k.scope))
		}
	}
	return sum, l.missing(ctx, namespace, uses)
}

// below reports whether a record of use belongs to the subtree of a namespace.
func (l *Ledger) below(ctx context.Context, name, top string, u *use) (bool, error) {
	if u != nil && l.terminates(name) {
		return slices.Contains(u.Ancestors, top), nil
	}
	chain, _, err := l.config.Tree.Ancestry(ctx, name, false)
	return slices.Contains(chain, top), err
}

// missing returns a missingUseError if ResourceQuotas below a namespace have use that is not recorded.
func (l *Ledger) missing(ctx context.Context, namespace string, uses map[key]*use) error {
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
		if below, err := l.below(ctx, rq.Namespace, namespace, nil); err != nil {
			return err
		} else if below {
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
