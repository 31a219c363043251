package embedded

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestDataSurvivesARestart(t *testing.T) {
	// Sockets' paths are limited to about 100 characters, so the test's own temporary directory may be too long.
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for round, want := range []int64{0, 1} {
		etcd, err := Start(dir, DefaultQuota)
		if err != nil {
			t.Fatal(err)
		}
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd.Endpoint}, DialTimeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Get(t.Context(), "key")
		if err != nil {
			t.Fatal(err)
		}
		if got.Count != want {
			t.Errorf("round %d: got %d keys, want %d", round, got.Count, want)
		}
		if _, err := client.Put(t.Context(), "key", "value"); err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
		etcd.Stop()
	}
}

// Each of them may be as large as the database, so that a few fill the volume.
func TestOrphansOfADefragmentationAreRemoved(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	orphan := filepath.Join(dir, "etcd", "member", "snap", "db.tmp.123456")
	for range 2 {
		etcd, err := Start(dir, DefaultQuota)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(orphan); !os.IsNotExist(err) {
			t.Errorf("the orphan is there: %v", err)
		}
		etcd.Stop()
		if err := os.WriteFile(orphan, make([]byte, 1<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnEtcdThatEndsByItselfIsNoticed(t *testing.T) {
	etcd, _ := start(t)
	select {
	case <-etcd.Ended():
		t.Fatal("it has ended already")
	default:
	}
	etcd.server.Server.HardStop()
	<-etcd.Ended()
}

// A tenant may write a large object often. etcd keeps the log in memory for members that lag behind.
func TestLargeWritesDoNotStayInMemory(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	etcd, err := Start(dir, DefaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Stop()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd.Endpoint}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	const number, size = 500, 512 << 10
	value := strings.Repeat("x", size)
	for range number {
		if _, err := client.Put(t.Context(), "key", value); err != nil {
			t.Fatal(err)
		}
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	if memory.HeapAlloc > number*size/2 {
		t.Errorf("%d MiB are in use after %d MiB were written", memory.HeapAlloc>>20, number*size>>20)
	}
}
