package reservations

import (
	"context"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

// followInterval is how long changes of the tree are collected.
const followInterval = 200 * time.Millisecond

// followTree records the new ancestors of namespaces that move until ctx is done. A move need not change any
// ResourceQuota, but the recorded ancestors count when the namespace is deleted.
func (o *Observer) followTree(ctx context.Context) {
	for {
		changed := o.ledger.config.Tree.Changed()
		o.enqueueMoved(ctx)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		select {
		case <-ctx.Done():
		case <-time.After(followInterval):
		}
	}
}

// enqueueMoved enqueues the uses that were recorded with other ancestors than the present ones.
func (o *Observer) enqueueMoved(ctx context.Context) {
	all, err := o.ledger.config.Quotas.List(ours)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Cannot list ResourceQuotas")
		return
	}
	above := ancestries{o.ledger, map[string][]string{}}
	for _, rq := range all {
		scope, ours := quota.ScopeOfObject(rq.Name)
		if !ours || o.ledger.terminates(rq.Namespace) {
			continue
		}
		chain, err := above.of(ctx, rq.Namespace, nil)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Cannot read the ancestors of a namespace", "namespace", rq.Namespace)
			continue
		}
		k := key{rq.Namespace, scope}
		known, ok := o.chains.Load(k)
		if !ok || !slices.Equal(known.([]string), chain) {
			o.queue.Add(k)
		}
	}
}
