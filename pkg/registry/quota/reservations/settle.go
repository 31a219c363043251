package reservations

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

// settleInterval is the time between two looks at the cache of ResourceQuotas.
const settleInterval = 20 * time.Millisecond

// Settle records the use in a namespace and its descendants that was there before a quota applied to them, and returns
// when no reservation can miss it any more. Otherwise the observer would record it a moment after the quota is in
// force. It fails when ctx ends.
func (l *Ledger) Settle(ctx context.Context, q *hnc.HierarchicalResourceQuota, namespace string) error {
	var counted []*corev1.ResourceQuota
	if err := wait.PollUntilContextCancel(ctx, settleInterval, true, func(ctx context.Context) (complete bool, err error) {
		counted, complete, err = l.counted(ctx, q, namespace)
		return complete, err
	}); err != nil {
		return err
	}
	recording, ctx := errgroup.WithContext(ctx)
	recording.SetLimit(maxBatch)
	for _, rq := range counted {
		o, err := newOperation(rq)
		if err != nil {
			return err
		}
		o.fresh = true
		recording.Go(func() error { return l.do(ctx, o) })
	}
	return recording.Wait()
}

// counted returns the ResourceQuotas with use that hold a namespace and its descendants to the limits of a quota, and
// whether kube-controller-manager has counted in all of them, as far as the cache knows.
func (l *Ledger) counted(ctx context.Context, q *hnc.HierarchicalResourceQuota, namespace string) (used []*corev1.ResourceQuota, complete bool, err error) {
	name, limited := quota.ScopeOf(&q.Spec).ObjectName(), quotav1.ResourceNames(quota.Counted(q.Status.Hard))
	if len(limited) == 0 {
		return nil, true, nil
	}
	members, err := l.config.Tree.Members(ctx, namespace)
	if err != nil {
		return nil, false, err
	}
	for _, namespace := range members {
		if l.terminates(namespace) {
			continue
		}
		rq, err := l.config.Quotas.ResourceQuotas(namespace).Get(name)
		if apierrors.IsNotFound(err) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		if !hasCounted(rq, limited) {
			return nil, false, nil
		}
		if !quotav1.IsZero(rq.Status.Used) {
			used = append(used, rq)
		}
	}
	return used, true, nil
}
