package reservations

import (
	"context"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

const (
	// readInterval is the interval between two reads of records of ResourceQuotas that have changed. Most changes are
	// increases that were reserved and need no write; with a read for each, a reservation would cost etcd a second
	// request.
	readInterval = 200 * time.Millisecond
	// maxReads is the number of records in one read; etcd allows 128 operations.
	maxReads = maxOperations
)

// observeAll observes ResourceQuotas of the queue, with one read for those that arrive within an interval, until ctx is
// done.
func (o *Observer) observeAll(ctx context.Context) {
	for keys := o.next(); len(keys) > 0; keys = o.next() {
		interval := time.After(readInterval)
		records, err := o.read(ctx, keys)
		// The ledger commits as many operations in one transaction.
		var workers sync.WaitGroup
		slots := make(chan struct{}, maxBatch)
		for i, k := range keys {
			slots <- struct{}{}
			workers.Go(func() {
				defer func() { <-slots }()
				if err == nil {
					o.finish(ctx, k, o.observe(ctx, k, records[i]))
				} else {
					o.finish(ctx, k, err)
				}
			})
		}
		workers.Wait()
		if o.queue.Len() >= maxReads || o.queue.ShuttingDown() {
			continue
		}
		select {
		case <-ctx.Done():
		case <-interval:
		}
	}
}

// next waits for a key, and returns it with others that wait; none after the end.
func (o *Observer) next() []key {
	var keys []key
	for len(keys) == 0 || len(keys) < maxReads && o.queue.Len() > 0 {
		k, shutdown := o.queue.Get()
		if shutdown {
			break
		}
		keys = append(keys, k)
	}
	return keys
}

// finish takes a key from the queue, or leaves it there if there was an error.
func (o *Observer) finish(ctx context.Context, k key, err error) {
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).V(2).Info("Cannot record the use of a ResourceQuota; trying again", "namespace", k.namespace, "err", err)
		o.queue.AddRateLimited(k)
	} else {
		o.queue.Forget(k)
	}
	o.queue.Done(k)
}

// read reads the records of keys.
func (o *Observer) read(ctx context.Context, keys []key) ([]fence.Entry, error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.record()
	}
	return o.ledger.config.Records.Read(ctx, names...)
}

// observe records the use of a ResourceQuota as it is in the cache, and deletes the record if the namespace is gone. A
// ResourceQuota that changes after its record was read is observed again.
func (o *Observer) observe(ctx context.Context, k key, record fence.Entry) error {
	rq, err := o.ledger.config.Quotas.ResourceQuotas(k.namespace).Get(k.scope.ObjectName())
	if err == nil {
		operation, err := newOperation(rq)
		if err != nil || len(rq.Status.Used) == 0 && rq.Annotations[countedNames] == "" {
			return err
		}
		operation.yields = true
		return o.record(ctx, operation, record)
	}
	gone, err := o.gone(ctx, k)
	if err != nil || !gone {
		return err
	}
	o.chains.Delete(k)
	return o.ledger.do(ctx, &operation{key: k, gone: true, revision: record.Revision, fresh: true, yields: true})
}

// record performs an operation that records what is stored, unless the record agrees with it already.
func (o *Observer) record(ctx context.Context, operation *operation, record fence.Entry) error {
	old, err := decodeUse(record)
	if err != nil {
		return err
	}
	if old != nil {
		updated := operation.apply(old)
		t := &transaction{ledger: o.ledger, uses: map[key]*use{operation.key: old}}
		chain, _, err := t.chain(ctx, operation.key, false)
		if err != nil {
			return err
		}
		o.chains.Store(operation.key, chain)
		if old.chargesAs(&use{UID: operation.uid, Used: updated.charge(), Ancestors: chain}) {
			return nil
		}
	}
	operation.fresh = true
	return o.ledger.do(ctx, operation)
}
