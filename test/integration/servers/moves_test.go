package servers

import (
	"fmt"
	"math/rand/v2"
	"path"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/history"
)

// Random moves by every verb and under both names, through three servers. No revision of etcd may hold a cycle, and
// every error says that a move is illegal or that somebody else was faster.
func TestNoRevisionHoldsACycleWhicheverServerMoves(t *testing.T) {
	const workers = 3
	moves := suite.Size(25, 60)
	namespaces := make([]string, 10)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("moving-%d", i)
	}
	createNamespaces(t, namespaces...)
	// A server keeps each group in a folder of its own.
	recording := history.Record(t, etcdClient(t), path.Join(controlplane.EtcdPrefix, hnc.GroupName))
	var wg sync.WaitGroup
	for worker := range workers * len(replicas) {
		client := admin.at(t, worker%len(replicas))
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for range moves {
				namespace, parent := namespaces[random.IntN(len(namespaces))], namespaces[random.IntN(len(namespaces))]
				if random.IntN(5) == 0 {
					parent = ""
				}
				if verb, err := client.moveSomehow(t, random, namespace, parent); err != nil {
					t.Errorf("%s of %s below %q: %v", verb, namespace, parent, err)
				}
			}
		})
	}
	wg.Wait()
	committed, cyclic := recording.Finish(t.Context())
	t.Logf("%d moves committed", committed)
	if committed < 2*moves {
		t.Errorf("only %d moves were committed: the test shows nothing", committed)
	}
	for _, cycle := range cyclic {
		t.Error(cycle)
	}
}

// moveSomehow moves a namespace by a random verb under a random name. It returns an error that nobody should get.
func (u *user) moveSomehow(t *testing.T, random *rand.Rand, namespace, parent string) (verb string, err error) {
	n := bothHierarchies[random.IntN(len(bothHierarchies))]
	switch random.IntN(8) {
	case 0, 1, 2:
		verb, err = "apply", u.apply(t, n, namespace, parent)
	case 3, 4:
		if verb, err = "patch", u.patch(t, n, namespace, parent); apierrors.IsNotFound(err) {
			return verb, nil
		}
	case 5:
		if verb, err = "create", u.create(t, n, namespace, parent); apierrors.IsAlreadyExists(err) {
			return verb, nil
		}
	case 6:
		if verb, err = "update", u.update(t, n, namespace, parent); apierrors.IsNotFound(err) {
			return verb, nil
		}
	case 7:
		if verb, err = "delete", u.remove(t, n, namespace); apierrors.IsNotFound(err) {
			return verb, nil
		}
	}
	// A cycle, or a version that is no longer the latest.
	if illegal(err) {
		return verb, nil
	}
	return verb, err
}

// illegal says whether a move would break the tree, as either version says so, or somebody else was faster.
func illegal(err error) bool { return apierrors.IsConflict(err) || apierrors.IsInvalid(err) }

// update moves a namespace by reading its hierarchy and replacing it.
func (u *user) update(t *testing.T, n name, namespace, parent string) error {
	client := u.dynamic.Resource(n.GroupVersionResource).Namespace(namespace)
	object, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(object.Object, parent, "spec", "parent"); err != nil {
		return err
	}
	_, err = client.Update(t.Context(), object, metav1.UpdateOptions{})
	return err
}

// etcdClient returns a client of the control plane's etcd.
func etcdClient(t *testing.T) *clientv3.Client {
	t.Helper()
	etcd, err := cp.Etcd()
	if err != nil {
		t.Fatal(err)
	}
	config, err := etcd.TLS()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: etcd.Endpoints, TLS: config, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
