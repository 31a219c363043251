package tree

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/embedded"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// A caller that waits until the index is fresh finds all that was committed before, by any client, and does not wait
// for what has nothing to do with it.
func TestCatchingUpDeliversAllCommittedEdges(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	etcd, err := embedded.Start(dir, embedded.DefaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(etcd.Stop)
	t.Cleanup(stop)
	writer, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd.Endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	config := storagebackend.NewDefaultConfig(prefix, apiserver.StorageCodec)
	config.Transport.ServerList = []string{etcd.Endpoint}
	client, err := fence.NewClient(*config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()

	var mu sync.Mutex
	delivered := map[string]int64{}
	deliver := func(entry fence.Entry) {
		mu.Lock()
		defer mu.Unlock()
		delivered[entry.Name] = entry.Revision
	}
	edges := client.Edges()
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		edges.ListAndWatch(ctx, func(all []fence.Entry) {
			for _, entry := range all {
				deliver(entry)
			}
		}, deliver)
	})
	defer watching.Wait()
	defer cancel()

	limited, done := context.WithTimeout(ctx, 5*time.Minute)
	defer done()
	for i := range 200 {
		name := fmt.Sprintf("namespace-%d", i)
		written, err := writer.Put(limited, prefix+"/edges/"+name, `{"parent":"p"}`)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			// Something else happens too, of which the watch delivers nothing.
			if _, err := writer.Put(limited, prefix+"/others/"+name, "x"); err != nil {
				t.Fatal(err)
			}
		}
		if err := edges.WaitUntilFresh(limited); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if delivered[name] != written.Header.Revision {
			t.Fatalf("of %s revision %d has been delivered, want %d", name, delivered[name], written.Header.Revision)
		}
		mu.Unlock()
	}
	short, done2 := context.WithTimeout(ctx, 50*time.Millisecond)
	defer done2()
	stop()
	if err := edges.WaitUntilFresh(short); err == nil {
		t.Error("it has caught up with an etcd that is gone")
	}
}
