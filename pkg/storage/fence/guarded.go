package fence

import (
	"context"

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

// OptimisticPut writes key if it and the guarded edges are unchanged. It fails with ErrLost if only an edge has
// changed.
func (c *guardedClient) OptimisticPut(ctx context.Context, key string, value []byte, expected int64, opts kubernetes.PutOptions) (kubernetes.PutResponse, error) {
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

// OptimisticDelete deletes key if it and the guarded edges are unchanged. It fails with ErrLost if only an edge has
// changed.
func (c *guardedClient) OptimisticDelete(ctx context.Context, key string, expected int64, opts kubernetes.DeleteOptions) (kubernetes.DeleteResponse, error) {
	guard := guardFrom(ctx)
	if guard == nil {
		return c.Interface.OptimisticDelete(ctx, key, expected, opts)
	}
	if guard.KeepsObject {
		return c.refuseDelete(ctx, key, expected)
	}
	response, kv, err := c.commit(ctx, guard, key, expected, clientv3.OpDelete(key))
	if err != nil {
		return kubernetes.DeleteResponse{}, err
	}
	return kubernetes.DeleteResponse{Succeeded: response.Succeeded, Revision: response.Header.Revision, KV: kv}, nil
}

// refuseDelete fails with ErrLost, unless the key has changed: then the store evaluates its current value.
func (c *guardedClient) refuseDelete(ctx context.Context, key string, expected int64) (kubernetes.DeleteResponse, error) {
	response, err := c.kv.Get(ctx, key)
	if err != nil {
		return kubernetes.DeleteResponse{}, err
	}
	kv := only(response.Kvs)
	if revisionOf(kv) == expected {
		c.onLost()
		return kubernetes.DeleteResponse{}, ErrLost
	}
	return kubernetes.DeleteResponse{Revision: response.Header.Revision, KV: kv}, nil
}

// commit commits a write and its guard in one transaction. It returns the current value of the key if the key itself
// has changed.
func (c *guardedClient) commit(ctx context.Context, guard *Guard, key string, expected int64, write clientv3.Op) (*clientv3.TxnResponse, *mvccpb.KeyValue, error) {
	t := transaction{prefix: c.prefix}
	t.unchanged(key, expected)
	t.then = append(t.then, write)
	t.addGuard(guard)
	response, err := c.kv.Txn(ctx).If(t.compare...).Then(t.then...).Else(clientv3.OpGet(key)).Commit()
	if err != nil || response.Succeeded {
		return response, nil, err
	}
	kv := only(response.Responses[0].GetResponseRange().Kvs)
	if current := revisionOf(kv); current == expected {
		c.onLost()
		return nil, nil, ErrLost
	}
	return response, kv, nil
}

// only returns the value of a key that was read, nil if it does not exist.
func only(kvs []*mvccpb.KeyValue) *mvccpb.KeyValue {
	if len(kvs) == 1 {
		return kvs[0]
	}
	return nil
}

func revisionOf(kv *mvccpb.KeyValue) int64 {
	if kv == nil {
		return 0
	}
	return kv.ModRevision
}
