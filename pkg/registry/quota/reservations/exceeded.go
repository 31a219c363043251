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
func (t *transaction) exceeded(ctx context.Context, o *operation, chain []string, enforced map[string]limits.Enforced, change corev1.ResourceList) (result, err error) {
	limited := o.limited(chain, enforced)
	if err := t.sumUp(ctx, limited, enforced); err != nil {
		return nil, err
	}
	for _, ancestor := range slices.Backward(limited) {
		for _, q := range enforced[ancestor].Of(o.scope) {
			over := excess(q.Counted, t.totals[ancestor][o.scope], change, o.used, o.reserve)
			over = slices.DeleteFunc(over, func(e quota.Excess) bool {
				return t.ledger.config.Propagated.Lifts(e.Resource, chain[slices.Index(chain, ancestor):])
			})
			if len(over) > 0 {
				return forbidden(quota.ExceededMessage(ancestor, q.Name, over)), nil
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

// limited returns the namespaces of a chain whose quotas limit a reservation.
func (o *operation) limited(chain []string, enforced map[string]limits.Enforced) []string {
	if o.reserve == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(chain), func(namespace string) bool {
		return !slices.ContainsFunc(enforced[namespace].Of(o.scope), func(q *limits.Quota) bool { return len(q.Counted) > 0 })
	})
}
