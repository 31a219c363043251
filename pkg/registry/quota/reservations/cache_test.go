package reservations

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// unavailable answers no list before it is back.
type unavailable struct {
	*store
	asked chan struct{}
	back  atomic.Bool
}

func (u *unavailable) List(ctx context.Context, folders ...string) iter.Seq2[fence.Entry, error] {
	select {
	case u.asked <- struct{}{}:
	default:
	}
	if !u.back.Load() {
		return func(yield func(fence.Entry, error) bool) { yield(fence.Entry{}, errors.New("etcd is away")) }
	}
	return u.store.List(ctx, folders...)
}

// TestDeletedNamespacesWaitForEtcdElsewhere has an event handler of a shared informer, which must not wait for etcd,
// and a list that fails first.
func TestDeletedNamespacesWaitForEtcdElsewhere(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "1")); err != nil {
		t.Fatal(err)
	}
	away := &unavailable{store: s, asked: make(chan struct{}, 1)}
	watching := &Ledger{config: l.config}
	watching.config.Records = away
	o := &Observer{ledger: watching, queue: newQueue[key](), deleted: newQueue[string]()}
	o.enqueueNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}})
	select {
	case <-away.asked:
		t.Fatal("the event handler reads from etcd")
	default:
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	context.AfterFunc(ctx, o.deleted.ShutDown)
	go o.followDeletions(ctx)
	<-away.asked
	away.back.Store(true)
	found := make(chan key, 1)
	go func() {
		k, _ := o.queue.Get()
		found <- k
	}()
	select {
	case k := <-found:
		if k.namespace != "b" {
			t.Errorf("got %v, want the record of b", k)
		}
	case <-time.After(30 * time.Second):
		t.Error("the records of a deleted namespace were not found when etcd was back")
	}
}

// TestRecordsThatAnotherReplicaDeletedAreForgotten has a record that this replica has cached.
func TestRecordsThatAnotherReplicaDeletedAreForgotten(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	if err := l.Reserve(t.Context(), status("b", 10, "0"), status("b", 10, "1")); err != nil {
		t.Fatal(err)
	}
	name := key{namespace: "b"}.record()
	if _, ok := l.cached.get(name); !ok {
		t.Fatalf("%s is not cached", name)
	}
	if _, err := s.Commit(t.Context(), &fence.Transaction{Delete: []string{name}}); err != nil {
		t.Fatal(err)
	}
	o := &Observer{ledger: l, client: liveQuotas(), queue: newQueue[key]()}
	if err := o.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if entry, ok := l.cached.get(name); ok {
		t.Errorf("%v is still cached", entry)
	}
}
