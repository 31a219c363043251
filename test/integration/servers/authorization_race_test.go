package servers

import (
	"encoding/json"
	"path"
	"strconv"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A user may take a namespace out of one tree and not out of another, while the branch that it is on goes to and fro
// between the two through other servers. Whatever commits was allowed in the tree as it was at that very revision.
func TestAMoveCommitsOnlyInTheTreeInWhichItWasAllowed(t *testing.T) {
	const ours, theirs, branch, leaf = "race-ours", "race-theirs", "race-branch", "race-leaf"
	rounds := suite.Size(60, 150)
	createNamespaces(t, ours, theirs, branch, leaf)
	for _, namespace := range []string{branch, leaf} {
		if err := admin.apply(t, hierarchies, namespace, ""); err != nil {
			t.Fatal(err)
		}
	}
	mover := newAccount(t, "mover")
	mover.grant(t, fullAdmin, ours, leaf)
	etcd := etcdClient(t)

	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		swinger := admin.at(t, 1)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			parent := ours
			if i%2 == 1 {
				parent = theirs
			}
			if err := swinger.patch(t, hierarchies, branch, parent); err != nil && !apierrors.IsConflict(err) {
				t.Errorf("moving the branch: %v", err)
				return
			}
		}
	})
	var allowed, refused int
	leaving, planting := mover.at(t, 0), admin.at(t, 2)
	enough := func() bool { return allowed >= rounds/20 && refused >= rounds/20 }
	// Where the branch is when the user leaves is up to the scheduler.
	for round := 0; round < rounds || (!enough() && round < 20*rounds); round++ {
		if err := planting.patch(t, hierarchies, leaf, branch); err != nil {
			t.Fatal(err)
		}
		left, err := leaving.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(leaf).
			Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"spec":{"parent":""}}`), metav1.PatchOptions{})
		switch {
		case err == nil:
			allowed++
			if root := parentAt(t, etcd, branch, left.GetResourceVersion()); root != ours {
				t.Errorf("revision %s: the user took %s out of the tree of %q", left.GetResourceVersion(), leaf, root)
			}
		case apierrors.IsForbidden(err), apierrors.IsConflict(err):
			refused++
		default:
			t.Errorf("leaving: %v", err)
		}
	}
	close(done)
	wg.Wait()
	t.Logf("%d allowed, %d refused", allowed, refused)
	if !enough() {
		t.Errorf("%d moves were allowed and %d refused: the test shows nothing", allowed, refused)
	}
}

// parentAt returns the stored parent of a namespace at an etcd revision.
func parentAt(t *testing.T, etcd *clientv3.Client, namespace, revision string) string {
	t.Helper()
	at, err := strconv.ParseInt(revision, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	key := path.Join(controlplane.EtcdPrefix, hnc.GroupName, "hierarchies", namespace, hnc.Singleton)
	response, err := etcd.Get(t.Context(), key, clientv3.WithRev(at))
	if err != nil {
		t.Fatal(err)
	}
	var stored v1beta1.Hierarchy
	if len(response.Kvs) == 1 {
		err = json.Unmarshal(response.Kvs[0].Value, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stored.Spec.Parent
}
