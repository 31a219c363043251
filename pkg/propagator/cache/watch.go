package cache

import (
	"context"
	"iter"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// The resources that the propagator reads whatever is configured.
const (
	namespaces     = "namespaces"
	hierarchies    = "hierarchies"
	subnamespaces  = "subnamespaces"
	configurations = "hncconfigurations"
	releases       = "copyreleases"
)

type watchFunc = func(context.Context, metav1.ListOptions) (watch.Interface, error)

// Watch starts to keep the state up to date, until the context ends. Watches that fail, because the API is unavailable
// for instance, are retried forever. A standby watches too, so that it can take over without listing anything.
func (c *Cache) Watch(ctx context.Context) {
	c.watchTree(ctx)
	c.watchConfiguration(ctx)
	c.watchKindSources(ctx)
	c.watchReleases(ctx)
	c.watchViews(ctx)
	c.watchDefinitions(ctx)
	c.watchQuotas(ctx)
	c.Update(func(s *State) { c.setKinds(ctx, s, kinds.All(kinds.Resolution{}, nil), true) })
}

func (c *Cache) watchTree(ctx context.Context) {
	ns := c.Kubernetes.CoreV1().Namespaces()
	namespaceStore := c.state.namespaceStore()
	namespaceStore.synced = c.namesKinds()
	reflect(ctx, c, namespaces, &corev1.Namespace{}, ns, guarded(c.clusterGuard, namespaces, ns), namespaceStore)
	h := c.Hierarchy.HncV1beta1().Hierarchies(metav1.NamespaceAll)
	hierarchyStore := c.state.hierarchyStore()
	hierarchyStore.synced = c.namesKinds()
	reflect(ctx, c, hierarchies, &v1beta1.Hierarchy{}, h, guarded(c.guard, hierarchies, h), hierarchyStore)
	sub := c.Hierarchy.HncV1beta1().Subnamespaces(metav1.NamespaceAll)
	reflect(ctx, c, subnamespaces, &v1beta1.Subnamespace{}, sub, guarded(c.guard, subnamespaces, sub), c.state.subnamespaceStore())
}

// namespaceStore returns the store of Namespaces, without what reflect sets; so do the others.
func (s *State) namespaceStore() *store[*tree.Namespace] {
	return &store[*tree.Namespace]{
		convert: func(object any) (*tree.Namespace, error) { return tree.NewNamespace(object.(*corev1.Namespace)), nil },
		set:     s.setNamespace,
		remove:  s.deleteNamespace,
		known:   s.Tree.Namespaces,
		identify: func(ns *tree.Namespace) (types.NamespacedName, string) {
			return types.NamespacedName{Name: ns.Name}, ns.ResourceVersion
		},
	}
}

func (s *State) hierarchyStore() *store[*tree.Hierarchy] {
	return &store[*tree.Hierarchy]{
		convert: func(object any) (*tree.Hierarchy, error) { return tree.NewHierarchy(object.(*v1beta1.Hierarchy)), nil },
		set:     func(h *tree.Hierarchy) { s.affect(s.Tree.SetHierarchy(h)) },
		remove:  func(h *tree.Hierarchy) { s.affect(s.Tree.DeleteHierarchy(h.Namespace, h.UID)) },
		known:   s.Tree.Hierarchies,
		identify: func(h *tree.Hierarchy) (types.NamespacedName, string) {
			return types.NamespacedName{Namespace: h.Namespace}, h.ResourceVersion
		},
	}
}

func (s *State) subnamespaceStore() *store[*tree.Subnamespace] {
	return &store[*tree.Subnamespace]{
		convert: func(object any) (*tree.Subnamespace, error) {
			return tree.NewSubnamespace(object.(*v1beta1.Subnamespace)), nil
		},
		set:    func(sub *tree.Subnamespace) { s.affect(s.Tree.SetSubnamespace(sub)) },
		remove: func(sub *tree.Subnamespace) { s.affect(s.Tree.DeleteSubnamespace(sub.Key, sub.UID)) },
		known:  s.Tree.Subnamespaces,
		identify: func(sub *tree.Subnamespace) (types.NamespacedName, string) {
			return types.NamespacedName{Namespace: sub.Parent, Name: sub.Name}, sub.ResourceVersion
		},
	}
}

func (s *State) configurationStore() *store[*v1beta1.HNCConfiguration] {
	return &store[*v1beta1.HNCConfiguration]{
		convert:  func(object any) (*v1beta1.HNCConfiguration, error) { return object.(*v1beta1.HNCConfiguration), nil },
		set:      s.setConfiguration,
		remove:   func(*v1beta1.HNCConfiguration) { s.setConfiguration(nil) },
		known:    one(&s.Configuration),
		identify: identify[*v1beta1.HNCConfiguration],
	}
}

// identify returns the name of an object and its version.
func identify[T metav1.Object](o T) (types.NamespacedName, string) {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, o.GetResourceVersion()
}

// one returns a function that returns the only object of a resource, or nothing.
func one[T any](object **T) func() iter.Seq[*T] {
	return func() iter.Seq[*T] {
		return func(yield func(*T) bool) {
			if *object != nil {
				yield(*object)
			}
		}
	}
}

// namesKinds returns what a resource that names kinds calls when it is listed. The first resolution of kinds, and so
// the first write, waits for it.
func (c *Cache) namesKinds() (synced func()) {
	c.unconfigured.Add(1)
	return sync.OnceFunc(c.unconfigured.Done)
}

func (c *Cache) watchConfiguration(ctx context.Context) {
	c.unlisted.Add(1)
	c.kindsApplied = sync.OnceFunc(c.unlisted.Done)
	context.AfterFunc(ctx, c.kindsApplied)
	client, configurationStore := c.Hierarchy.HncV1beta1().HNCConfigurations(), c.state.configurationStore()
	configurationStore.synced = c.namesKinds()
	reflect(ctx, c, configurations, &v1beta1.HNCConfiguration{}, client, guarded(c.guard, configurations, client), configurationStore)
}

// watchKindSources watches what announces that the cluster has other kinds than before.
func (c *Cache) watchKindSources(ctx context.Context) {
	s := c.state
	for _, resource := range []schema.GroupVersionResource{hnc.CRDResource, hnc.APIServiceResource} {
		client := c.Metadata.Resource(resource)
		reflect(ctx, c, resource.Resource, &metav1.PartialObjectMetadata{}, c.Metadata, listWatch(client, nil),
			&store[*metav1.PartialObjectMetadata]{
				convert: func(object any) (*metav1.PartialObjectMetadata, error) {
					return object.(*metav1.PartialObjectMetadata), nil
				},
				set:    func(*metav1.PartialObjectMetadata) { s.handlers.kindsAnnounced(s) },
				remove: func(*metav1.PartialObjectMetadata) { s.handlers.kindsAnnounced(s) },
				synced: func() { s.handlers.kindsAnnounced(s) },
			})
	}
}

// watchReleases watches CopyReleases, which the API server has authorized. They are not kept, and nothing waits for
// their first list.
func (c *Cache) watchReleases(ctx context.Context) {
	s, client := c.state, c.Hierarchy.HncV1alpha3().CopyReleases(metav1.NamespaceAll)
	reflect(ctx, c, releases, &v1alpha3.CopyRelease{}, client, listWatch(client, nil),
		&store[*v1alpha3.CopyRelease]{
			convert: func(object any) (*v1alpha3.CopyRelease, error) { return object.(*v1alpha3.CopyRelease), nil },
			set:     func(r *v1alpha3.CopyRelease) { s.handlers.releaseRequested(r) },
			remove:  func(*v1alpha3.CopyRelease) {},
			synced:  func() {},
		})
}

// lister is a typed client for one resource.
type lister[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// listWatch returns what lists and watches the objects of a client that selected, unless it is nil, selects.
func listWatch[L runtime.Object](client lister[L], selected func(*metav1.ListOptions)) *cache.ListWatch {
	if selected == nil {
		selected = func(*metav1.ListOptions) {}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			selected(&o)
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			selected(&o)
			return client.Watch(ctx, o)
		},
	}
}

// guarded returns what lists and watches all objects of a client, with a guard.
func guarded[L runtime.Object](g guard, resource string, client lister[L]) *cache.ListWatch {
	lw := listWatch(client, nil)
	lw.ListWithContextFunc, lw.WatchFuncWithContext = g.list(lw.ListWithContextFunc), g.watch(resource, lw.WatchFuncWithContext)
	return lw
}

// backoff is how long to wait before a failed watch is made again. The default grows to half a minute, for which every
// creation of a sub-namespace would wait after our API server has been away.
func backoff() *wait.Backoff {
	return &wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 5, Cap: 2 * time.Second}
}

// reflect starts a reflector that writes all objects of one type to a store. Unless the store says what to do with its
// first list, the first writes wait for that.
func reflect[T any](ctx context.Context, c *Cache, resource string, expected runtime.Object, client any,
	lw *cache.ListWatch, s *store[T],
) {
	s.cache, s.resource, s.logger = c, resource, klog.FromContext(ctx)
	if s.synced == nil {
		c.unlisted.Add(1)
		s.synced = sync.OnceFunc(c.unlisted.Done)
	}
	if required(resource) {
		lw.WatchFuncWithContext, lw.ListWithContextFunc, s.synced = c.readiness.observe(resource, lw.WatchFuncWithContext, lw.ListWithContextFunc, s.synced)
	}
	options := cache.ReflectorOptions{Name: resource, Logger: &s.logger, Backoff: backoff()}
	go cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(lw, client), expected, s, options).RunWithContext(ctx)
}
