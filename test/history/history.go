// Package history replays what etcd has committed of the tree, so that a test can look at every revision and not only
// at the last.
package history

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
)

// History replays what etcd committed. It believes the stored objects only, not the edges that protect them.
type History struct {
	t      testing.TB
	client *clientv3.Client
	prefix string
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	revision int64
	moves    int
	cyclic   []string
}

// Record replays all changes of hierarchies below an etcd prefix, from now on. The recording ends with Finish or with
// the test.
func Record(t testing.TB, client *clientv3.Client, etcdPrefix string) *History {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h := &History{t: t, client: client, prefix: etcdPrefix, cancel: cancel, done: make(chan struct{})}
	start, err := client.Get(ctx, h.folder(), clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	trees := forest.New(nil)
	for _, kv := range start.Kvs {
		h.apply(trees, string(kv.Key), kv.Value)
	}
	h.moves, h.revision = 0, start.Header.Revision
	watch := client.Watch(ctx, h.folder(), clientv3.WithPrefix(), clientv3.WithRev(start.Header.Revision+1))
	go func() {
		defer close(h.done)
		for response := range watch {
			h.replay(trees, response.Events)
		}
	}()
	t.Cleanup(cancel)
	return h
}

func (h *History) folder() string { return path.Join("/", h.prefix, "hierarchies") + "/" }

// replay applies events and looks for cycles after each revision: etcd delivers those of one revision in one message.
func (h *History) replay(trees *forest.Forest, events []*clientv3.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var changed []string
	for i, event := range events {
		changed = append(changed, h.apply(trees, string(event.Kv.Key), event.Kv.Value))
		h.revision = event.Kv.ModRevision
		if i+1 < len(events) && events[i+1].Kv.ModRevision == h.revision {
			continue
		}
		for _, name := range changed {
			if cycle := trees.Cycle(name); cycle != nil {
				h.cyclic = append(h.cyclic, fmt.Sprintf("revision %d: %s", h.revision, strings.Join(cycle, " <- ")))
			}
		}
		changed = nil
	}
}

// apply records one object's parent and returns its namespace. No value means that the object was deleted.
func (h *History) apply(trees *forest.Forest, key string, value []byte) string {
	namespace, _, _ := strings.Cut(strings.TrimPrefix(key, h.folder()), "/")
	var stored v1beta1.Hierarchy
	if len(value) > 0 {
		if err := json.Unmarshal(value, &stored); err != nil {
			h.t.Errorf("%s: %v", key, err)
		}
	}
	if trees.Parent(namespace) != stored.Spec.Parent {
		h.moves++
	}
	trees.SetParent(namespace, stored.Spec.Parent)
	return namespace
}

// Finish waits until all that has been committed is replayed, and returns the number of moves and a line for each
// cyclic revision.
func (h *History) Finish(ctx context.Context) (moves int, cyclic []string) {
	h.t.Helper()
	last, err := h.client.Get(ctx, h.folder(), clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend))
	if err != nil {
		h.t.Fatal(err)
	}
	if len(last.Kvs) > 0 {
		err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.revision >= last.Kvs[0].ModRevision, nil
		})
		if err != nil {
			h.t.Fatalf("the history has not been replayed to its end: %v", err)
		}
	}
	h.cancel()
	<-h.done
	return h.moves, h.cyclic
}
