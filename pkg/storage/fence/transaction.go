package fence

import (
	"context"
	"path"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// guardedClient is a Kubernetes etcd client whose writes honor the Guard of their context.
type guardedClient struct {
	kubernetes.Interface
	kv     clientv3.KV
	prefix string
	// onLost is called when a fence loses.
	onLost func()
}

// OptimisticPut writes key if it and the guarded edges are unchanged. It fails with ErrLost if only an edge has changed.
func (c *guardedClient) OptimisticPut(ctx context.Context, key string, value []byte, expected int64, opts kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	if write := writeFrom(ctx); write != nil {
		return write.park(ctx, key, value, expected, opts)
	}
	guard := guardFrom(ctx)
	if guard == nil {
		return c.Interface.OptimisticPut(ctx, key, value, expected, opts)
	}
	response, kv, err := c.commit(ctx, guard, key, expected, clientv3.OpPut(key, string(value), clientv3.WithLease(opts.LeaseID)))
	if err != nil {
		return kubernetes.PutResponse{}, err
	}
	return kubernetes.PutResponse{Succeeded: response.Succeeded, Revision: response.Header.Revision, KV: kv}, nil
}

// OptimisticDelete deletes key if it and the guarded edges are unchanged. It fails with ErrLost if only an edge has changed.
func (c *guardedClient) OptimisticDelete(ctx context.Context, key string, expected int64, opts kubernetes.DeleteOptions) (kubernetes.DeleteResponse, error) {
	if writeFrom(ctx) != nil {
		return kubernetes.DeleteResponse{}, errBatchDeletes
	}
	guard := guardFrom(ctx)
	if guard == nil {
		return c.Interface.OptimisticDelete(ctx, key, expected, opts)
	}
	response, kv, err := c.commit(ctx, guard, key, expected, clientv3.OpDelete(key))
	if err != nil {
		return kubernetes.DeleteResponse{}, err
	}
	return kubernetes.DeleteResponse{Succeeded: response.Succeeded, Revision: response.Header.Revision, KV: kv}, nil
}

// commit commits a write and its guard in one transaction. It returns the current value of the key if the key itself has changed.
func (c *guardedClient) commit(ctx context.Context, guard *Guard, key string, expected int64, write clientv3.Op) (*clientv3.TxnResponse, *mvccpb.KeyValue, error) {
	compare := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", expected)}
	for name, revision := range guard.Unchanged {
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(edgeKey(c.prefix, name)), "=", revision))
	}
	for name, revision := range guard.Unmarked {
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(markKey(c.prefix, name)), "=", revision))
	}
	for name, revision := range guard.UnchangedRecords {
		compare = append(compare, clientv3.Compare(clientv3.ModRevision(recordKey(c.prefix, name)), "=", revision))
	}
	then := []clientv3.Op{write}
	for name, value := range guard.Put {
		then = append(then, clientv3.OpPut(edgeKey(c.prefix, name), string(value)))
	}
	for _, name := range guard.Delete {
		then = append(then, clientv3.OpDelete(edgeKey(c.prefix, name)))
	}
	for _, name := range guard.Mark {
		then = append(then, clientv3.OpPut(markKey(c.prefix, name), ""))
	}
	for name, value := range guard.PutRecords {
		then = append(then, clientv3.OpPut(recordKey(c.prefix, name), string(value)))
	}
	response, err := c.kv.Txn(ctx).If(compare...).Then(then...).Else(clientv3.OpGet(key)).Commit()
	if err != nil || response.Succeeded {
		return response, nil, err
	}
	var kv *mvccpb.KeyValue
	if kvs := response.Responses[0].GetResponseRange().Kvs; len(kvs) == 1 {
		kv = kvs[0]
	}
	if current := revisionOf(kv); current == expected {
		c.onLost()
		return nil, nil, ErrLost
	}
	return response, kv, nil
}

func revisionOf(kv *mvccpb.KeyValue) int64 {
	if kv == nil {
		return 0
	}
	return kv.ModRevision
}

// Edges and marks have folders beside those of the resources.
const (
	edgesFolder = "edges"
	marksFolder = "marks"
)

func markKey(prefix, name string) string {
	return path.Join("/", prefix, marksFolder, name)
}

func edgeKey(prefix, name string) string {
	return path.Join("/", prefix, edgesFolder, name)
}

func edgesPrefix(prefix string) string {
	return edgeKey(prefix, "") + "/"
}
