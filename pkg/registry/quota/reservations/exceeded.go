package reservations

import (
	"context"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
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
			over := excess(quotas[i].Counted, sum[o.scope], change, o.used, o.reserve)
			over = slices.DeleteFunc(over, func(e quota.Excess) bool {
				return t.ledger.config.Propagated.Lifts(e.Resource, chain[slices.Index(chain, ancestor):])
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
	for _, e := range quota.Exceeding(hard, sum, change) {
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
