package embedded

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestFragmentedDatabases(t *testing.T) {
	const mib = 1 << 20
	for name, test := range map[string]struct {
		database database
		want     bool
	}{
		"new":                        {database{file: 20 << 10, used: 16 << 10, quota: DefaultQuota}, false},
		"little to be freed":         {database{file: 60 * mib, used: 1 * mib, quota: DefaultQuota}, false},
		"much to be freed":           {database{file: 200 * mib, used: 50 * mib, quota: DefaultQuota}, true},
		"much, but more is used":     {database{file: 200 * mib, used: 120 * mib, quota: DefaultQuota}, false},
		"near the quota":             {database{file: 31 * mib, used: 20 * mib, quota: 32 * mib}, true},
		"near the quota, all in use": {database{file: 31 * mib, used: 30 * mib, quota: 32 * mib}, false},
	} {
		if got := test.database.fragmented(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// start runs an etcd with a quota of 32 MiB, without its maintenance, and returns a client of it.
func start(t *testing.T) (*Etcd, *clientv3.Client) {
	t.Helper()
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	etcd, err := Start(dir, 32<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Stop)
	// The tests do what it does.
	etcd.stop()
	<-etcd.maintained
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd.Endpoint}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return etcd, client
}

// fill writes megabytes until a write is refused and the alarm is raised.
func fill(t *testing.T, etcd *Etcd, client *clientv3.Client, key func(i int) string) {
	t.Helper()
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		_, err = client.Put(t.Context(), key(i), strings.Repeat("x", 1<<20))
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatalf("a quota of 32 MiB was not reached: %v", err)
	}
	for end := time.Now().Add(time.Minute); !etcd.database().full; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("etcd has raised no alarm")
		}
	}
}

func TestHistoryThatReachesTheQuotaIsFreed(t *testing.T) {
	etcd, client := start(t)
	fill(t, etcd, client, func(int) string { return "key" })
	if err := etcd.free(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := etcd.database(); d.full || d.file > 8<<20 {
		t.Errorf("%+v", d)
	}
	if _, err := client.Put(t.Context(), "key", "after"); err != nil {
		t.Error(err)
	}
}

func TestObjectsThatReachTheQuotaAreReported(t *testing.T) {
	etcd, client := start(t)
	var err error
	// The file grows faster than what is in it, so there may be free pages at first.
	for round := 0; round < 100 && err == nil; round++ {
		fill(t, etcd, client, func(i int) string { return fmt.Sprintf("key-%d-%d", round, i) })
		err = etcd.free(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "--embedded-etcd-quota-bytes") {
		t.Errorf("freed: %v", err)
	}
	if _, err := client.Put(t.Context(), "more", "x"); !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Errorf("a write was accepted: %v", err)
	}
	// Deletions are accepted.
	if _, err := client.Delete(t.Context(), "key", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if err := etcd.free(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), "more", "x"); err != nil {
		t.Error(err)
	}
}
