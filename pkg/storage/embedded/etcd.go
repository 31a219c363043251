// Package embedded runs a single-member etcd inside the API server, for installations with a single replica.
package embedded

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Etcd is a running etcd.
type Etcd struct {
	server *embed.Etcd
	// Endpoint is the URL for clients: a socket in the data directory.
	Endpoint string

	quota int64
	mu    sync.Mutex
	// compacted is the revision of the last compaction of an etcd that had reached its quota.
	compacted int64
	// stop ends the maintenance, and maintained is closed when it has ended.
	stop       context.CancelFunc
	maintained chan struct{}
}

// DefaultQuota is the size in bytes at which etcd stops accepting writes: its documented maximum.
const DefaultQuota int64 = 8 << 30

const startTimeout = time.Minute

const (
	// snapshotCount is the number of writes after which etcd's log on disk begins anew. A start reads the log into
	// memory.
	snapshotCount = 500
	// catchUpEntries is the number of writes that etcd keeps in memory for members that lag behind. There are none, and
	// the default of 5000 writes of large objects is several gigabytes; 0 is the default.
	catchUpEntries = 1
)

// Start runs etcd on the data in dir, which it creates if necessary, and returns when etcd serves. etcd listens on
// sockets in dir only, which only the owner of dir can access. It accepts no more writes when its database has quota
// bytes, until enough of them are free; it is defragmented by itself.
func Start(dir string, quota int64) (*Etcd, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	config := embed.NewConfig()
	config.Name = "embedded"
	config.Dir = filepath.Join(dir, "etcd")
	config.LogLevel = "warn"
	config.QuotaBackendBytes = quota
	config.SnapshotCount, config.SnapshotCatchUpEntries = snapshotCount, catchUpEntries
	client, peer := socket(dir, "client.sock"), socket(dir, "peer.sock")
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	if err := removeOrphans(config.Dir); err != nil {
		return nil, err
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("cannot start etcd on %s: %w", dir, err)
	}
	select {
	case <-server.Server.ReadyNotify():
		ctx, stop := context.WithCancel(context.Background())
		// Another etcd of the same process, as in tests, is no error.
		_ = legacyregistry.Register(quotaBytes)
		quotaBytes.Set(float64(quota))
		e := &Etcd{server: server, Endpoint: client.String(), quota: quota, stop: stop, maintained: make(chan struct{})}
		go func() {
			defer close(e.maintained)
			e.maintain(ctx)
		}()
		return e, nil
	case err := <-server.Err():
		server.Close()
		return nil, fmt.Errorf("etcd on %s ended: %w", dir, err)
	case <-time.After(startTimeout):
		server.Close()
		return nil, fmt.Errorf("etcd on %s was not ready in %s", dir, startTimeout)
	}
}

// removeOrphans removes the copies of the database that interrupted defragmentations have left, each of which may be as
// large as the database. etcd itself does not when it starts.
func removeOrphans(dir string) error {
	orphans, err := filepath.Glob(filepath.Join(dir, "member", "snap", "db.tmp*"))
	if err != nil {
		return err
	}
	for _, orphan := range orphans {
		if err := os.Remove(orphan); err != nil {
			return fmt.Errorf("cannot remove what an interrupted defragmentation has left: %w", err)
		}
	}
	return nil
}

func socket(dir, name string) url.URL {
	return url.URL{Scheme: "unix", Path: filepath.Join(dir, name)}
}

// Ended is closed when etcd has ended, by Stop or on its own. It does not start again.
func (e *Etcd) Ended() <-chan struct{} { return e.server.Server.StopNotify() }

// Stop stops etcd.
func (e *Etcd) Stop() {
	e.stop()
	<-e.maintained
	e.server.Close()
}
