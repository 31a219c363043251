package tree

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/subnamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/waitready"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/embedded"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

const prefix = "/registry/test"

// staleEdges delivers each change of the tree late, as a replica that is cut off or overloaded would see it.
type staleEdges struct {
	treerules.Edges
	delay time.Duration
	// late counts the changes that have not been delivered yet.
	late *atomic.Int64
}

// WaitUntilFresh returns when everything is delivered that was committed before the call.
func (s staleEdges) WaitUntilFresh(ctx context.Context) error {
	if err := s.Edges.WaitUntilFresh(ctx); err != nil {
		return err
	}
	for s.late.Load() > 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}

func (s staleEdges) ListAndWatch(ctx context.Context, replace func([]fence.Entry), update func(fence.Entry)) {
	type late struct {
		entry fence.Entry
		due   time.Time
	}
	queue := make(chan late, 100_000)
	go func() {
		for l := range queue {
			time.Sleep(time.Until(l.due)) // the delay is what is tested
			update(l.entry)
			s.late.Add(-1)
		}
	}()
	s.Edges.ListAndWatch(ctx, replace, func(entry fence.Entry) {
		s.late.Add(1)
		queue <- late{entry, time.Now().Add(s.delay)}
	})
	close(queue)
}

// storageOptions are the REST options of a registry without a server.
type storageOptions struct {
	config    storagebackend.Config
	decorator generic.StorageDecorator
}

func (o storageOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig:  o.config.ForResource(resource),
		Decorator:      o.decorator,
		ResourcePrefix: "/" + resource.Resource,
	}, nil
}

// replica serves both resources of the tree.
type replica struct {
	*hierarchy.Storage
	subnamespaces *subnamespace.Storage
}

// registries returns n replicas of the registries on one etcd, each with a tree that is delay behind, and a client of
// that etcd. The namespaces exist. The squatter has no permissions, and everybody else may do everything.
func registries(t *testing.T, n int, delay time.Duration, namespaces []string) ([]replica, *clientv3.Client) {
	t.Helper()
	return registriesAt(t, startEtcd(t, embedded.DefaultQuota), n, delay, namespaces)
}

// startEtcd starts an embedded etcd, and returns its address.
func startEtcd(t *testing.T, quota int64) (endpoint string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	etcd, err := embedded.Start(dir, quota)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Stop)
	return etcd.Endpoint
}

// registriesAt returns registries on the etcd at an address.
func registriesAt(t *testing.T, endpoint string, n int, delay time.Duration, namespaces []string) ([]replica, *clientv3.Client) {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, name := range namespaces {
		if err := indexer.Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}); err != nil {
			t.Fatal(err)
		}
	}
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{ManagedNamespaceLabels: []string{"team"}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	config := storagebackend.NewDefaultConfig(prefix, apiserver.StorageCodec)
	config.EncodeVersioner = apiserver.StorageVersions
	config.Transport.ServerList = []string{endpoint}
	config.CompactionInterval = 0

	var replicas []replica
	for range n {
		client, err := fence.NewClient(*config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		objects, err := indexerObjects(indexer)
		if err != nil {
			t.Fatal(err)
		}
		forest := treerules.New(treerules.Config{
			Edges:      staleEdges{client.Edges(), delay, &atomic.Int64{}},
			Namespaces: corelisters.NewNamespaceLister(indexer),
			Client:     fake.NewClientset(objects...),
			Authorizer: authorizer.AuthorizerFunc(authorize),
			Rules:      func() managedkeys.Rules { return rules },
		})
		go forest.Index.Run(t.Context())
		options := storageOptions{*config, client.Decorator()}
		changes := changerates.NewChanges(authorizer.AuthorizerFunc(authorize), "hierarchies", "hierarchies")
		storage, err := hierarchy.NewStorage(apiserver.Scheme, options, forest, kinds.NewMapper(meta.NewDefaultRESTMapper(nil)), changes, waitready.Waiter{},
			func(context.Context, string, []string) func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(storage.Hierarchy.DestroyFunc)
		hierarchies := func(ctx context.Context, namespace string) (*hnc.Hierarchy, error) {
			h, err := storage.Hierarchy.Get(genericapirequest.WithNamespace(ctx, namespace), hnc.Singleton, &metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return h.(*hnc.Hierarchy), nil
		}
		forest.Authorizer.SetHierarchies(hierarchies)
		subnamespaces, err := subnamespace.NewStorage(apiserver.Scheme, options, forest, hierarchies, changes, waitready.Waiter{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(subnamespaces.Subnamespace.DestroyFunc)
		eventually(t, "the replica is ready", func() error { return forest.Index.Ready(nil) })
		eventually(t, "the storage is ready", storage.Hierarchy.ReadinessCheck)
		eventually(t, "the storage of sub-namespaces is ready", subnamespaces.Subnamespace.ReadinessCheck)
		replicas = append(replicas, replica{storage, subnamespaces})
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return replicas, client
}

func indexerObjects(indexer cache.Indexer) ([]runtime.Object, error) {
	var objects []runtime.Object
	for _, object := range indexer.List() {
		namespace, ok := object.(*corev1.Namespace)
		if !ok {
			return nil, fmt.Errorf("not a namespace: %T", object)
		}
		objects = append(objects, namespace)
	}
	return objects, nil
}

const squatter = "squatter"

func authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetUser().GetName() == squatter {
		return authorizer.DecisionNoOpinion, "", nil
	}
	return inNamespaces(a), "", nil
}

func requestContext(ctx context.Context, namespace string) context.Context {
	ctx = genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: "tester"})
	return genericapirequest.WithNamespace(ctx, namespace)
}

// move gives a namespace a parent through one replica, as server-side apply would.
func move(ctx context.Context, storage replica, namespace, parent string) error {
	_, err := moveAt(ctx, storage, namespace, parent)
	return err
}

// moveAt does the same, and returns the revision.
func moveAt(ctx context.Context, storage replica, namespace, parent string) (int, error) {
	moved, _, err := storage.Hierarchy.Update(requestContext(ctx, namespace), hnc.Singleton,
		rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			updated := old.DeepCopyObject().(*hnc.Hierarchy)
			updated.Name, updated.Namespace, updated.Spec.Parent = hnc.Singleton, namespace, parent
			return updated, nil
		}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(moved.(*hnc.Hierarchy).ResourceVersion)
}

func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
