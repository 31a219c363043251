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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/embedded"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Whoever catches up with the tree has been told all that was committed before, by whomever, and does not wait for what has
// nothing to do with it.
func TestWhoCatchesUpHasBeenToldEverything(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	etcd, err := embedded.Start(dir)
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
	config := storagebackend.NewDefaultConfig(prefix, apiserver.Codecs.LegacyCodec(v1beta1.SchemeGroupVersion))
	config.Transport.ServerList = []string{etcd.Endpoint}
	client, err := fence.NewClient(*config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()

	var mu sync.Mutex
	told := map[string]int64{}
	tell := func(entry fence.Entry) {
		mu.Lock()
		defer mu.Unlock()
		told[entry.Name] = entry.Revision
	}
	edges := client.Edges()
	ctx, cancel := context.WithCancel(t.Context())
	var feeding sync.WaitGroup
	feeding.Go(func() {
		edges.ListAndWatch(ctx, func(all []fence.Entry) {
			for _, entry := range all {
				tell(entry)
			}
		}, tell)
	})
	defer feeding.Wait()
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
			// Something else happens too, of which the feed hears nothing.
			if _, err := writer.Put(limited, prefix+"/others/"+name, "x"); err != nil {
				t.Fatal(err)
			}
		}
		if err := edges.WaitUntilFresh(limited); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if told[name] != written.Header.Revision {
			t.Fatalf("of %s revision %d has been told, want %d", name, told[name], written.Header.Revision)
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
