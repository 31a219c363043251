package fence

import (
	"errors"
	"testing"

	"go.etcd.io/etcd/client/v3/kubernetes"
)

// The store goes straight to the deletion if it has read an object without finalizers.
func TestAnObjectThatWasToBeKeptIsNotDeleted(t *testing.T) {
	etcd, lost := &recorder{}, 0
	client := &guardedClient{kv: etcd, onLost: func() { lost++ }}
	ctx := NewContext(t.Context())
	if err := Set(ctx, &Guard{KeepsObject: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.OptimisticDelete(ctx, "/object", 1, kubernetes.DeleteOptions{}); !errors.Is(err, ErrLost) || lost != 1 || len(etcd.all) > 0 {
		t.Errorf("deletion: got %v, lost %d, transactions %v", err, lost, etcd.all)
	}
	// The store has evaluated an old version, from its cache.
	if response, err := client.OptimisticDelete(ctx, "/object", 9, kubernetes.DeleteOptions{}); err != nil || response.Succeeded || response.KV.ModRevision != 1 {
		t.Errorf("deletion of another version: got %+v, %v", response, err)
	}
	if _, err := client.OptimisticPut(ctx, "/object", nil, 1, kubernetes.PutOptions{}); err != nil || len(etcd.all) != 1 {
		t.Errorf("update: got %v, transactions %v", err, etcd.all)
	}
}
