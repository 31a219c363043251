package fence

import (
	"context"
	"fmt"
	"maps"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// Commit commits a waiting write, and returns when its request has ended. It fails with ErrLost if the object, or what the guard of the write compares,
// has changed other than by this batch: then nothing was written, and the batch can only be abandoned.
//
// Each object has a transaction of its own. A client of the API continues a watch after the revision of the last event that it has received, so objects
// of one revision would be lost to it if its watch ended between them.
func (b *Batch) Commit(ctx context.Context, w *Write) error {
	t := transaction{prefix: b.client.prefix}
	t.unchanged(w.parked.key, w.parked.expected)
	t.put(w.parked.key, w.parked.value, clientv3.WithLease(w.parked.options.LeaseID))
	var guard Guard
	if w.parked.guard != nil {
		guard = *w.parked.guard
	}
	guard.Unchanged = updated(guard.Unchanged, b.edges)
	guard.UnchangedRecords = updated(guard.UnchangedRecords, b.records)
	t.addGuard(&guard)
	response, err := b.client.kv.Txn(ctx).If(t.compare...).Then(t.then...).Commit()
	if err != nil {
		return fmt.Errorf("cannot commit the write of %s: %w", w.parked.key, err)
	}
	if !response.Succeeded {
		b.client.onLost()
		return ErrLost
	}
	revision := response.Header.Revision
	for name := range guard.Put {
		b.edges[name] = revision
	}
	for _, name := range guard.Delete {
		b.edges[name] = 0
	}
	for name := range guard.PutRecords {
		b.records[name] = revision
	}
	for _, name := range guard.DeleteRecords {
		b.records[name] = 0
	}
	w.end(outcome{response: kubernetes.PutResponse{Succeeded: true, Revision: revision}})
	w.Done()
	return nil
}

// updated returns the revisions of unchanged after the earlier writes of a batch, which the writes after them expect.
func updated(unchanged, committed map[string]int64) map[string]int64 {
	result := maps.Clone(unchanged)
	for name := range result {
		if revision, ok := committed[name]; ok {
			result[name] = revision
		}
	}
	return result
}
