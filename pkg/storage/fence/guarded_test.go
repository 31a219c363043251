package fence

import (
	"context"
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// recorder is an etcd in which every transaction succeeds at revision 7. transactions counts them.
type recorder struct {
	clientv3.KV
	transactions int
}

func (r *recorder) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return &clientv3.GetResponse{Header: &etcdserverpb.ResponseHeader{Revision: 7}, Kvs: []*mvccpb.KeyValue{{ModRevision: 1}}}, nil
}

func (r *recorder) Txn(context.Context) clientv3.Txn { return recorderTxn{r} }

type recorderTxn struct{ *recorder }

func (r recorderTxn) If(...clientv3.Cmp) clientv3.Txn {
	r.transactions++
	return r
}

func (r recorderTxn) Then(...clientv3.Op) clientv3.Txn { return r }

func (r recorderTxn) Else(...clientv3.Op) clientv3.Txn { return r }

func (r recorderTxn) Commit() (*clientv3.TxnResponse, error) {
	return &clientv3.TxnResponse{Succeeded: true, Header: &etcdserverpb.ResponseHeader{Revision: 7}}, nil
}

// The store goes straight to the deletion if it has read an object without finalizers.
func TestAnObjectThatWasToBeKeptIsNotDeleted(t *testing.T) {
	etcd, lost := &recorder{}, 0
	client := &guardedClient{kv: etcd, onLost: func() { lost++ }}
	ctx := NewContext(t.Context())
	if err := Set(ctx, &Guard{KeepsObject: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.OptimisticDelete(ctx, "/object", 1, kubernetes.DeleteOptions{}); !errors.Is(err, ErrLost) || lost != 1 || etcd.transactions > 0 {
		t.Errorf("deletion: got %v, lost %d, transactions %v", err, lost, etcd.transactions)
	}
	// The store has evaluated an old version, from its cache.
	if response, err := client.OptimisticDelete(ctx, "/object", 9, kubernetes.DeleteOptions{}); err != nil || response.Succeeded || response.KV.ModRevision != 1 {
		t.Errorf("deletion of another version: got %+v, %v", response, err)
	}
	if _, err := client.OptimisticPut(ctx, "/object", nil, 1, kubernetes.PutOptions{}); err != nil || etcd.transactions != 1 {
		t.Errorf("update: got %v, transactions %v", err, etcd.transactions)
	}
}

func TestAMarkIsSetOnceByAWrite(t *testing.T) {
	ctx := NewContext(t.Context())
	if err := Add(ctx, &Guard{Mark: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := Add(ctx, &Guard{Mark: []string{"b", "c"}}); err != nil {
		t.Fatal(err)
	}
	var txn transaction
	txn.addGuard(guardFrom(ctx))
	if len(txn.then) != 3 {
		t.Errorf("%d operations", len(txn.then))
	}
}
