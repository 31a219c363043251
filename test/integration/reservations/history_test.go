package reservations

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/wait"
)

// history counts the Secrets of namespaces whose names begin with a prefix, at each revision of kube-apiserver's etcd.
type history struct {
	client *clientv3.Client
	folder string
	done   chan struct{}
	cancel context.CancelFunc

	mu             sync.Mutex
	revision       int64
	count, highest int
	created        int
}

// etcdClient returns a client of kube-apiserver's etcd.
func etcdClient(t *testing.T) *clientv3.Client {
	t.Helper()
	etcd, err := cp.Etcd()
	if err != nil {
		t.Fatal(err)
	}
	tls, err := etcd.TLS()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: etcd.Endpoints, TLS: tls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// record counts from now on; there are no such Secrets yet.
func record(t *testing.T, namespaces string) *history {
	t.Helper()
	client := etcdClient(t)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	h := &history{client: client, folder: "/registry/secrets/" + namespaces, done: make(chan struct{}), cancel: cancel}
	start, err := client.Get(ctx, h.folder, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || start.Count != 0 {
		t.Fatalf("%d secrets exist already: %v", start.Count, err)
	}
	watch := client.Watch(ctx, h.folder, clientv3.WithPrefix(), clientv3.WithRev(start.Header.Revision+1))
	go func() {
		defer close(h.done)
		for response := range watch {
			for _, event := range response.Events {
				h.apply(event)
			}
		}
	}()
	return h
}

func (h *history) apply(event *clientv3.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case event.IsCreate():
		h.count++
		h.created++
	case event.Type == clientv3.EventTypeDelete:
		h.count--
	}
	h.highest, h.revision = max(h.highest, h.count), event.Kv.ModRevision
}

// finish waits until everything that has been committed is counted. It returns the greatest number of Secrets at any
// revision, the present one, and the number of Secrets that were created.
func (h *history) finish(t *testing.T) (highest, count, created int) {
	t.Helper()
	last, err := h.client.Get(t.Context(), h.folder, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend))
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range last.Kvs {
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.revision >= kv.ModRevision, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	h.cancel()
	<-h.done
	return h.highest, h.count, h.created
}

// exceeded reports whether an error is that of a quota, ours or the namespace's.
func exceeded(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "exceeded hierarchical quota") || strings.Contains(err.Error(), "exceeded quota"))
}

func namespaceName(prefix string, i int) string { return fmt.Sprintf("%s%02d", prefix, i) }
