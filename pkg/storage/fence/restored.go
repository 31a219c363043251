package fence

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// revisions recognizes that etcd's data were restored to an earlier state below this process. Its caches then contain
// what etcd does not, and etcd does not end their watches: it waits until it has reached their revision, and skips what
// was written until then.
type revisions struct {
	last atomic.Int64
	// restored is called each time that etcd answers with an earlier revision than before.
	restored func(error)
}

// observe takes the header of the answer to a request that was sent when the last revision was since. Requests run at
// the same time.
func (r *revisions) observe(since int64, header *etcdserverpb.ResponseHeader) {
	now := header.GetRevision()
	if now < since {
		r.restored(fmt.Errorf("etcd has revision %d after %d: its data were restored, and the caches of this process are later than they", now, since))
		return
	}
	for last := r.last.Load(); now > last && !r.last.CompareAndSwap(last, now); last = r.last.Load() {
	}
}

// observed observes the revisions of an etcd.
type observed struct {
	clientv3.KV
	revisions *revisions
}

func (o observed) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	since := o.revisions.last.Load()
	response, err := o.KV.Get(ctx, key, opts...)
	// A member may answer others with a state of its own, which is late.
	if err == nil && !clientv3.OpGet(key, opts...).IsSerializable() {
		o.revisions.observe(since, response.Header)
	}
	return response, err
}

func (o observed) Txn(ctx context.Context) clientv3.Txn {
	return observedTxn{o.KV.Txn(ctx), o.revisions}
}

type observedTxn struct {
	clientv3.Txn
	revisions *revisions
}

func (t observedTxn) If(cs ...clientv3.Cmp) clientv3.Txn {
	return observedTxn{t.Txn.If(cs...), t.revisions}
}

func (t observedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	return observedTxn{t.Txn.Then(ops...), t.revisions}
}

func (t observedTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	return observedTxn{t.Txn.Else(ops...), t.revisions}
}

func (t observedTxn) Commit() (*clientv3.TxnResponse, error) {
	since := t.revisions.last.Load()
	response, err := t.Txn.Commit()
	if err == nil {
		t.revisions.observe(since, response.Header)
	}
	return response, err
}
