package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// external is the member of an etcd for the hierarchies alone.
var external = controlplane.EtcdMembers(1)

// startExternal starts the etcd, and has hns-apiserver use it from its next start on.
func startExternal(t *testing.T) {
	t.Helper()
	access, err := controlplane.StartEtcd(t.Context(), cp, external)
	if err != nil {
		t.Fatal(err)
	}
	apiServer.Etcd = &access
}

// save saves a snapshot as etcdctl snapshot save does, while hierarchies are written, and returns its file.
func save(t *testing.T) string {
	t.Helper()
	tls, err := apiServer.Etcd.TLS()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var written atomic.Int64
	ended := make(chan error)
	go func() {
		for i := 0; ; i++ {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/written":"%d"}}}`, i)
			if _, err := root.HNC.HncV1beta1().Hierarchies("leaf").Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				if ctx.Err() != nil {
					err = nil
				}
				ended <- err
				return
			}
			written.Add(1)
		}
	}()
	more := func() {
		last := written.Load()
		suite.Eventually(t, "hierarchies are written", func() error {
			if written.Load() < last+2 {
				return errors.New("not yet")
			}
			return nil
		})
	}
	more()
	file := filepath.Join(t.TempDir(), "snapshot.db")
	config := clientv3.Config{Endpoints: apiServer.Etcd.Endpoints, TLS: tls, DialTimeout: 10 * time.Second, Logger: zap.NewNop()}
	if _, err := snapshot.NewV3(zap.NewNop()).Save(t.Context(), config, file); err != nil {
		t.Fatal(err)
	}
	more()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return file
}

// restoreSnapshot replaces the data of the stopped etcd as etcdutl snapshot restore does: with --bump-revision=bump
// --mark-compacted unless that is 0.
func restoreSnapshot(t *testing.T, file string, bump uint64) {
	t.Helper()
	member := external[0].Process
	folder := filepath.Join(cp.Dir(), member+"-data")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	port, err := cp.Port(member + "-peer")
	if err != nil {
		t.Fatal(err)
	}
	peer := fmt.Sprintf("https://127.0.0.1:%d", port)
	if err := snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, Name: member, OutputDataDir: folder, PeerURLs: []string{peer},
		InitialCluster: member + "=" + peer, InitialClusterToken: "etcd-cluster", RevisionBump: bump, MarkCompacted: bump > 0,
	}); err != nil {
		t.Fatal(err)
	}
}

// watchFrom returns the first event that a client gets that continues a watch of the hierarchies from a version, "" if
// there is none for a second.
func watchFrom(t *testing.T, version string) string {
	t.Helper()
	seconds := int64(1)
	w, err := root.HNC.HncV1beta1().Hierarchies("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &seconds})
	if err != nil {
		return err.Error()
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		return fmt.Sprintf("%s %v", event.Type, event.Object)
	}
	return ""
}

// eventuallyCached waits until hns-apiserver has the parent of a namespace in its cache, from which the propagator gets
// it.
func eventuallyCached(t *testing.T, name, parent string) {
	t.Helper()
	suite.EventuallyEqual(t, "the parent of "+name+" in the cache", parent, func() string {
		list, err := root.HNC.HncV1beta1().Hierarchies(name).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil || len(list.Items) != 1 {
			return fmt.Sprint(len(list.Items), err)
		}
		return list.Items[0].Spec.Parent
	})
}

// leafBelowBlue makes two trees with a source each, one of which has a quota and a leaf, and waits until both hold for
// the leaf.
func leafBelowBlue(t *testing.T) {
	t.Helper()
	for _, name := range []string{"blue", "red", "leaf"} {
		namespace(t, name)
	}
	source(t, "blue")
	source(t, "red")
	setParent(t, "leaf", "blue")
	eventuallyBelow(t, "leaf", "blue", "red")
	quota(t, "blue")
	eventuallyHeld(t, "blue", "leaf")
}

// TestSnapshotsOfAnExternalEtcd restores a snapshot that was saved while hierarchies were written, below a newer
// cluster, in both ways that etcd has.
func TestSnapshotsOfAnExternalEtcd(t *testing.T) {
	startExternal(t)
	t.Cleanup(func() {
		for _, process := range []string{propagator.Name, apiServer.Name, external[0].Process} {
			if err := cp.StopProcess(context.WithoutCancel(t.Context()), process); err != nil {
				t.Error(err)
			}
		}
		apiServer.Etcd = nil
	})
	fresh(t)
	leafBelowBlue(t)
	first := eventuallyRecorded(t, "")
	saved := save(t)
	setParent(t, "leaf", "red")
	subnamespace(t, "blue", "sub")
	eventuallyBelow(t, "leaf", "red", "blue")
	eventuallyHeld(t, "blue", "sub")
	eventuallyRecorded(t, first)
	before := uids(t, all...)

	for _, way := range []struct {
		name string
		bump uint64
		// running is whether hns-apiserver runs during the restore.
		running bool
	}{
		{"with the revisions of the snapshot", 0, false},
		{"with later revisions", 1_000_000_000, false},
		// The revision has to be later than that of the store before, which has been restored with a bump already.
		{"with later revisions, below a running hns-apiserver", 2_000_000_000, true},
		{"with the revisions of the snapshot, below a running hns-apiserver", 0, true},
	} {
		t.Run(way.name, func(t *testing.T) {
			list, err := root.HNC.HncV1beta1().Hierarchies("").List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			stop(t, propagator.Name)
			if !way.running {
				stop(t, apiServer.Name)
			}
			stop(t, external[0].Process)
			restoreSnapshot(t, saved, way.bump)
			startExternal(t)
			if way.running && way.bump == 0 {
				// Its caches are later than the store, and etcd does not end their watches. The first answer of etcd
				// shows it.
				t.Logf("a request gets %q", paused(t))
				eventuallyEnded(t, apiServer.Name)
			}
			start(t, apiServer)
			eventuallyCached(t, "leaf", "blue")
			untouched := suite.Footprint(t, root)
			start(t, propagator)
			eventuallyPaused(t, hnc.ReasonHierarchiesOlder)
			doctorLists(t, "delete rolebindings.rbac.authorization.k8s.io: 2 (leaf/red, sub/blue)", "create subnamespaces.hnc.x-k8s.io: 1 (blue/sub)")
			unwritten(t, untouched)
			resume(t, hnc.TrustNamespaces)
			eventuallyBelow(t, "leaf", "red", "blue")
			eventuallyBelow(t, "sub", "blue", "red")
			eventuallyHeld(t, "blue", "sub")
			if gone := lost(before, uids(t, all...)); len(gone) > 0 {
				t.Errorf("deleted: %v", gone)
			}
			// Clients that continue a watch have to list again. Otherwise they would wait, without an error, until the
			// store has reached their version.
			event := watchFrom(t, list.ResourceVersion)
			t.Logf("a watch continues with %q", event)
			if way.bump > 0 && !strings.Contains(event, string(metav1.StatusReasonExpired)) {
				t.Errorf("a watch from before the restore continues with %q", event)
			}
		})
	}
}
