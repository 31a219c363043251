package fence

import (
	"context"
	"maps"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// recorder is an etcd in which every transaction succeeds at revision 7. compared holds what the last transaction has compared, all what each has.
type recorder struct {
	clientv3.KV
	compared map[string]int64
	all      []map[string]int64
}

func (r *recorder) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return &clientv3.GetResponse{Header: &etcdserverpb.ResponseHeader{Revision: 7}, Kvs: []*mvccpb.KeyValue{{ModRevision: 1}}}, nil
}

func (r *recorder) Txn(context.Context) clientv3.Txn { return recorderTxn{r} }

type recorderTxn struct{ *recorder }

func (r recorderTxn) If(compare ...clientv3.Cmp) clientv3.Txn {
	r.compared = map[string]int64{}
	for _, c := range compare {
		r.compared[string(c.KeyBytes())] = c.GetCompare().GetModRevision()
	}
	r.all = append(r.all, r.compared)
	return r
}

func (r recorderTxn) Then(...clientv3.Op) clientv3.Txn { return r }

func (r recorderTxn) Else(...clientv3.Op) clientv3.Txn { return r }

func (r recorderTxn) Commit() (*clientv3.TxnResponse, error) {
	return &clientv3.TxnResponse{Succeeded: true, Header: &etcdserverpb.ResponseHeader{Revision: 7}}, nil
}

// Writes that follow others of their batch expect what those have written, and nothing where those have deleted.
func TestWritesOfABatchExpectWhatTheEarlierOnesLeave(t *testing.T) {
	etcd := &recorder{}
	b := &Batch{client: &guardedClient{kv: etcd, prefix: "p"}, edges: map[string]int64{}, records: map[string]int64{}}
	commit := func(guard *Guard) {
		t.Helper()
		ctx := NewContext(t.Context())
		if err := Set(ctx, guard); err != nil {
			t.Fatal(err)
		}
		w := b.Do(ctx, func(ctx context.Context) {
			_, _ = (&guardedClient{kv: etcd}).OptimisticPut(ctx, "/object", nil, 1, kubernetes.PutOptions{})
		})
		if err := b.CommitAll(t.Context(), []*Write{w}, func(*Write) {}); err != nil {
			t.Fatal(err)
		}
	}
	commit(&Guard{Put: map[string][]byte{"moved": nil}, Delete: []string{"root"}, PutRecords: map[string][]byte{"r": nil}, DeleteRecords: []string{"gone"}})
	commit(&Guard{Unchanged: map[string]int64{"moved": 2, "root": 3, "other": 4}, UnchangedRecords: map[string]int64{"r": 5, "gone": 6}})
	for key, want := range map[string]int64{
		"/object": 1, "/p/edges/moved": 7, "/p/edges/root": 0, "/p/edges/other": 4, "/p/records/r": 7, "/p/records/gone": 0,
	} {
		if got, ok := etcd.compared[key]; !ok || got != want {
			t.Errorf("%s: compared with %d, want %d", key, got, want)
		}
	}
}

// A record that a write changes blindly must not have changed since a later write was evaluated on it: such as use of a quota that was reserved meanwhile.
func TestBlindWritesOfABatchCompareWhatLaterOnesRelyOn(t *testing.T) {
	etcd := &recorder{}
	b := &Batch{client: &guardedClient{kv: etcd, prefix: "p"}, edges: map[string]int64{}, records: map[string]int64{}}
	var writes []*Write
	for _, guard := range []*Guard{
		{PutRecords: map[string][]byte{"put": nil, "other": nil}, DeleteRecords: []string{"deleted"}},
		{UnchangedRecords: map[string]int64{"put": 6, "deleted": 4}},
		{UnchangedRecords: map[string]int64{"put": 5}, PutRecords: map[string][]byte{"put": nil}},
	} {
		ctx := NewContext(t.Context())
		if err := Set(ctx, guard); err != nil {
			t.Fatal(err)
		}
		writes = append(writes, b.Do(ctx, func(ctx context.Context) {
			_, _ = (&guardedClient{kv: etcd}).OptimisticPut(ctx, "/object", nil, 1, kubernetes.PutOptions{})
		}))
	}
	if err := b.CommitAll(t.Context(), writes, func(*Write) {}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]int64{
		{"/object": 1, "/p/records/put": 5, "/p/records/deleted": 4},
		{"/object": 1, "/p/records/put": 7, "/p/records/deleted": 0},
		{"/object": 1, "/p/records/put": 7},
	} {
		if i >= len(etcd.all) || !maps.Equal(etcd.all[i], want) {
			t.Errorf("transaction %d: compared %v, want %v", i, etcd.all, want)
		}
	}
}

func TestWritesThatDependOnEachOtherAreNotCommittedAtTheSameTime(t *testing.T) {
	child := func(name, parent string) *Guard {
		return &Guard{Unchanged: map[string]int64{name: 0, parent: 1}, Put: map[string][]byte{name: nil}}
	}
	for name, test := range map[string]struct {
		guards []*Guard
		want   int
	}{
		"children of one parent":           {[]*Guard{child("a", "root"), child("b", "root"), child("c", "root")}, 3},
		"a child of a child":               {[]*Guard{child("a", "root"), child("b", "root"), child("c", "a")}, 2},
		"a parent that moves after":        {[]*Guard{child("a", "b"), child("b", "root")}, 1},
		"a deleted edge":                   {[]*Guard{{Delete: []string{"a"}}, child("b", "a")}, 1},
		"a mark":                           {[]*Guard{{Mark: []string{"a"}}, {Mark: []string{"a"}}, {Unmarked: map[string]int64{"a": 1}}}, 2},
		"a record":                         {[]*Guard{{UnchangedRecords: map[string]int64{"a": 1}}, {PutRecords: map[string][]byte{"a": nil}}}, 1},
		"a deleted record":                 {[]*Guard{{DeleteRecords: []string{"a"}}, {UnchangedRecords: map[string]int64{"a": 1}}}, 1},
		"a record that two write":          {[]*Guard{{PutRecords: map[string][]byte{"a": nil}}, {DeleteRecords: []string{"a"}}}, 1},
		"an edge and a record of one name": {[]*Guard{child("a", "root"), {UnchangedRecords: map[string]int64{"a": 1}}}, 2},
		"no guard":                         {[]*Guard{nil, child("a", "root")}, 2},
		"many":                             {make([]*Guard, 3*maxParallel), maxParallel},
	} {
		var writes []*Write
		for _, guard := range test.guards {
			writes = append(writes, &Write{parked: &parked{guard: guard}})
		}
		if got := independent(writes); got != test.want {
			t.Errorf("%s: %d of %d writes are committed at the same time, want %d", name, got, len(writes), test.want)
		}
	}
}
