package fence

import (
	"context"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/embedded"
)

// newTestClient returns a client of an etcd of its own.
func newTestClient(t *testing.T) *Client {
	t.Helper()
	etcd, err := embedded.Start(t.TempDir(), embedded.DefaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Stop)
	client, err := NewClient(storagebackend.Config{
		Prefix: "/registry", Codec: unstructured.UnstructuredJSONScheme, EventsHistoryWindow: storagebackend.DefaultEventsHistoryWindow,
		LeaseManagerConfig: storagebackend.NewDefaultConfig("", nil).LeaseManagerConfig,
		Transport:          storagebackend.TransportConfig{ServerList: []string{etcd.Endpoint}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// store returns the storage of a resource, whose watch cache has been filled.
func (c *Client) store(t *testing.T, resource string) storage.Interface {
	t.Helper()
	config := c.config.ForResource(schema.GroupResource{Group: "example.com", Resource: resource})
	s, destroy, err := c.Decorator()(config, "/"+resource, func(o runtime.Object) (string, error) { return storage.NoNamespaceKeyFunc("/"+resource, o) },
		func() runtime.Object { return &unstructured.Unstructured{} }, func() runtime.Object { return &unstructured.UnstructuredList{} },
		storage.DefaultClusterScopedAttr, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	for deadline := time.Now().Add(time.Minute); s.ReadinessCheck() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(s.ReadinessCheck())
		}
	}
	return s
}

// write makes a write that no resource contains, and returns its revision.
func (c *Client) write(t *testing.T) int64 {
	t.Helper()
	response, err := c.client.Put(t.Context(), "/another/key", "value")
	if err != nil {
		t.Fatal(err)
	}
	return response.Header.Revision
}

// etcd reports the progress of a stream only when each of its watches has begun, and the watch after a list begins with
// the next write.
func TestAWatchCacheCatchesUpBesideALaterOne(t *testing.T) {
	client := newTestClient(t)
	client.write(t)
	earlier := client.store(t, "earlier")
	client.write(t)
	client.store(t, "later")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	initial := true
	everything := storage.Everything
	everything.AllowWatchBookmarks = true
	w, err := earlier.Watch(ctx, "/earlier/", storage.ListOptions{SendInitialEvents: &initial, Recursive: true, Predicate: everything})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	select {
	case event, open := <-w.ResultChan():
		if !open || event.Type != watch.Bookmark {
			t.Errorf("got %v, %t, want a bookmark", event, open)
		}
	case <-ctx.Done():
		t.Error("the initial events do not end until something is written")
	}
}

// A watch in etcd has buffers without a limit for a client that does not read, and decodes all objects for itself.
func TestAWatchFromBeforeTheCacheHasToListAgain(t *testing.T) {
	client := newTestClient(t)
	old := client.write(t)
	client.write(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := client.store(t, "restarted").Watch(ctx, "/restarted/",
		storage.ListOptions{ResourceVersion: strconv.FormatInt(old, 10), Recursive: true, Predicate: storage.Everything})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	select {
	case event := <-w.ResultChan():
		if event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
			t.Errorf("got %v, want 410", event)
		}
	case <-ctx.Done():
		t.Error("the watch began at a revision that the cache does not contain")
	}
}

func TestEdgesCatchUpBesideAnotherWatch(t *testing.T) {
	client := newTestClient(t)
	client.write(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	edges := client.Edges()
	listed := make(chan struct{})
	go edges.ListAndWatch(ctx, func([]Entry) { close(listed) }, func(Entry) {})
	<-listed
	revision := client.write(t)
	client.client.Watch(ctx, "/registry/another/", clientv3.WithPrefix(), clientv3.WithRev(revision+1))
	if err := edges.WaitUntilFresh(ctx); err != nil {
		t.Error(err)
	}
}
