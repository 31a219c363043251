package reservations

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Observer records the use of ResourceQuotas as it is stored: decreases, recounts by kube-controller-manager,
// namespaces that are gone. Each replica has one; what another one has recorded already needs no write.
type Observer struct {
	ledger *Ledger
	queue  workqueue.TypedRateLimitingInterface[key]
	// deleted holds the names of namespaces that are gone, whose records have yet to be found.
	deleted workqueue.TypedRateLimitingInterface[string]
	client  kubernetes.Interface
	// seen holds the records with reservations at the last check.
	seen map[key]seenUse
	// chains holds, by key, the ancestors with which the use was recorded last.
	chains sync.Map
}

// seenUse identifies the state of a record of use.
type seenUse struct {
	observed uint64
	revision int64
}

// NewObserver returns an Observer. The informers are those of the ledger's listers.
func NewObserver(ledger *Ledger, client kubernetes.Interface, quotas, namespaces cache.SharedIndexInformer) (*Observer, error) {
	o := &Observer{ledger: ledger, client: client, seen: map[key]seenUse{}, queue: newQueue[key](), deleted: newQueue[string]()}
	if _, err := quotas.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    o.enqueue,
		UpdateFunc: func(_, updated any) { o.enqueue(updated) },
		DeleteFunc: o.enqueue,
	}); err != nil {
		return nil, err
	}
	_, err := namespaces.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: o.enqueueNamespace})
	return o, err
}

// Back-off of what could not be recorded.
const (
	minBackoff = readInterval
	maxBackoff = 5 * time.Second
)

// newQueue returns a queue in which each item has its own back-off. A rate for all would be used up by the
// ResourceQuotas of a tree whose sums are being computed.
func newQueue[T comparable]() workqueue.TypedRateLimitingInterface[T] {
	return workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[T](minBackoff, maxBackoff))
}

func (o *Observer) enqueue(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	if rq, ok := obj.(*corev1.ResourceQuota); ok {
		if operation, err := newOperation(rq); err == nil {
			o.queue.Add(operation.key)
		}
	}
}

func (o *Observer) enqueueNamespace(obj any) {
	if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		o.deleted.Add(name)
	}
}

// followDeletions enqueues the records of namespaces that are gone, until the queue is shut down.
func (o *Observer) followDeletions(ctx context.Context) {
	for {
		name, shutdown := o.deleted.Get()
		if shutdown {
			return
		}
		if err := o.enqueueRecords(ctx, name); err != nil {
			o.deleted.AddRateLimited(name)
		} else {
			o.deleted.Forget(name)
		}
		o.deleted.Done(name)
	}
}

// enqueueRecords enqueues the records of a namespace.
func (o *Observer) enqueueRecords(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for entry, err := range o.ledger.config.Records.List(ctx, folderOf(namespace)) {
		if err != nil {
			return err
		}
		if k, ok := keyOf(entry.Name); ok {
			o.queue.Add(k)
		}
	}
	return nil
}

// checkInterval is the interval at which all records are compared with the cluster.
const checkInterval = 2 * time.Minute

// Run records use until ctx is done.
func (o *Observer) Run(ctx context.Context) {
	context.AfterFunc(ctx, o.queue.ShutDown)
	context.AfterFunc(ctx, o.deleted.ShutDown)
	go func() {
		for ctx.Err() == nil {
			if err := o.check(ctx); err != nil {
				klog.FromContext(ctx).Error(err, "Cannot check the recorded use of hierarchical quotas")
			}
			select {
			case <-ctx.Done():
			case <-time.After(checkInterval):
			}
		}
	}()
	go o.followTree(ctx)
	go o.followDeletions(ctx)
	o.observeAll(ctx)
}

// gone reports whether a record has no objects any more: its namespace does not exist, or exists without the
// ResourceQuota and without a quota that has one there.
func (o *Observer) gone(ctx context.Context, k key) (bool, error) {
	namespace, err := o.client.CoreV1().Namespaces().Get(ctx, k.namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil || namespace.DeletionTimestamp != nil {
		return false, err
	}
	if _, err := o.client.CoreV1().ResourceQuotas(k.namespace).Get(ctx, k.scope.ObjectName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return false, err
	}
	known, err := o.ledger.config.Limits.Get(ctx, true)
	if err != nil {
		return false, err
	}
	chain, _, err := o.ledger.config.Tree.Ancestry(ctx, k.namespace, true)
	if err != nil {
		return false, err
	}
	excluded := o.ledger.config.Tree.Excluded
	enforced := known.Enforced(chain, excluded)
	for _, at := range chain {
		if excluded(at) { // There is no ResourceQuota in it, and what is below begins a tree of its own.
			break
		}
		if len(enforced[at].Of(k.scope)) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// check compares all records with the cluster: it deletes those of namespaces that are gone, drops reservations whose
// write has failed, and takes over the versions of a cluster that was restored to an earlier state. It deletes the
// records of subtrees that have no quota any more, and forgets the cached ones.
func (o *Observer) check(ctx context.Context) error {
	o.ledger.cached.empty()
	seen := map[key]seenUse{}
	for u, err := range o.ledger.stored(ctx, useFolder) {
		if err != nil {
			return err
		}
		rq, err := o.ledger.config.Quotas.ResourceQuotas(u.namespace).Get(u.scope.ObjectName())
		if err != nil {
			o.queue.Add(u.key)
			continue
		}
		cached, err := newOperation(rq)
		if err != nil {
			return err
		}
		if cached.version > u.Observed || len(u.Reserved) == 0 && cached.version == u.Observed {
			continue
		}
		seen[u.key] = seenUse{u.Observed, u.revision}
	}
	// A write that has reserved use takes less than the interval, so an unchanged record belongs to one that has
	// failed.
	var errs []error
	for k, u := range seen {
		if o.seen[k] == u {
			errs = append(errs, o.forget(ctx, k, u))
		}
	}
	o.seen = seen
	return errors.Join(append(errs, o.ledger.prune(ctx))...)
}

// forget drops the reservations of a record unless the ResourceQuota has changed since.
func (o *Observer) forget(ctx context.Context, k key, u seenUse) error {
	rq, err := o.client.CoreV1().ResourceQuotas(k.namespace).Get(ctx, k.scope.ObjectName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	operation, err := newOperation(rq)
	if err != nil || operation.version > u.observed {
		return err
	}
	operation.forget, operation.revision, operation.fresh, operation.yields = true, u.revision, true, true
	return o.ledger.do(ctx, operation)
}
