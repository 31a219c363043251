package fence

import (
	"context"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// answering is an etcd that answers with a revision.
type answering struct {
	clientv3.KV
	revision *int64
}

func (a answering) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return &clientv3.GetResponse{Header: &etcdserverpb.ResponseHeader{Revision: *a.revision}}, nil
}

func (a answering) Txn(context.Context) clientv3.Txn { return answeringTxn{a: a} }

type answeringTxn struct {
	clientv3.Txn
	a answering
}

func (t answeringTxn) If(...clientv3.Cmp) clientv3.Txn  { return t }
func (t answeringTxn) Then(...clientv3.Op) clientv3.Txn { return t }
func (t answeringTxn) Else(...clientv3.Op) clientv3.Txn { return t }
func (t answeringTxn) Commit() (*clientv3.TxnResponse, error) {
	return &clientv3.TxnResponse{Header: &etcdserverpb.ResponseHeader{Revision: *t.a.revision}}, nil
}

func TestARestoreOfEtcdIsRecognizedByItsRevision(t *testing.T) {
	var revision int64
	restored := 0
	kv := observed{answering{revision: &revision}, &revisions{restored: func(error) { restored++ }}}
	get := func(opts ...clientv3.OpOption) {
		if _, err := kv.Get(t.Context(), "key", opts...); err != nil {
			t.Fatal(err)
		}
	}
	commit := func() {
		if _, err := kv.Txn(t.Context()).If().Then().Else().Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		what     string
		revision int64
		request  func()
		restored bool
	}{
		{"a read", 5, func() { get() }, false},
		{"another read", 5, func() { get() }, false},
		{"a write", 7, commit, false},
		{"a late member", 6, func() { get(clientv3.WithSerializable()) }, false},
		{"a read of an earlier state", 6, func() { get() }, true},
		{"a write in an earlier state", 6, commit, true},
		{"a later state", 8, func() { get() }, false},
	} {
		revision, restored = step.revision, 0
		step.request()
		if (restored > 0) != step.restored {
			t.Errorf("%s: reported %d times", step.what, restored)
		}
	}
	// The answer to a request that was sent before another one is not later than the answer to that one.
	kv.revisions.observe(5, &etcdserverpb.ResponseHeader{Revision: 7})
	if restored > 0 {
		t.Error("answers in another order count as a restore")
	}
}
