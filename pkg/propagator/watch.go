package propagator

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Watch keeps the picture up to date until the context ends. A watch that can't be made, because the API is unavailable for
// instance, is tried again for ever. It is meant to run in a standby too, which then leads without listing anything.
//
// The watches feed the picture directly: a second store of the same objects, which informers would keep, is what the
// memory of a large cluster would go to.
func (p *Propagator) Watch(ctx context.Context) {
	namespaces := p.Kubernetes.CoreV1().Namespaces()
	run(ctx, p, "namespaces", &corev1.Namespace{}, namespaces, namespaces.Watch,
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return namespaces.List(ctx, o)
		},
		&feed[*tree.Namespace]{
			convert: func(object any) (*tree.Namespace, error) { return tree.NewNamespace(object.(*corev1.Namespace)), nil },
			set:     p.setNamespace,
			remove:  func(ns *tree.Namespace) { p.affect(p.tree.DeleteNamespace(ns.Name, ns.UID)) },
			replace: p.replaceNamespaces,
			synced:  p.naming(),
		})
	hierarchies := p.Hierarchy.HncV1beta1().Hierarchies(metav1.NamespaceAll)
	run(ctx, p, "hierarchies", &v1beta1.Hierarchy{}, hierarchies, p.watchStore("hierarchies", hierarchies.Watch),
		p.listStore(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return hierarchies.List(ctx, o)
		}),
		&feed[*tree.Hierarchy]{
			convert: func(object any) (*tree.Hierarchy, error) { return tree.NewHierarchy(object.(*v1beta1.Hierarchy)), nil },
			set:     func(h *tree.Hierarchy) { p.affect(p.tree.SetHierarchy(h)) },
			remove:  func(h *tree.Hierarchy) { p.affect(p.tree.DeleteHierarchy(h.Namespace, h.UID)) },
			replace: p.replaceHierarchies,
			synced:  p.naming(),
		})
	subnamespaces := p.Hierarchy.HncV1beta1().Subnamespaces(metav1.NamespaceAll)
	run(ctx, p, "subnamespaces", &v1beta1.Subnamespace{}, subnamespaces, p.watchStore("subnamespaces", subnamespaces.Watch),
		p.listStore(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return subnamespaces.List(ctx, o)
		}),
		&feed[*tree.Subnamespace]{
			convert: func(object any) (*tree.Subnamespace, error) {
				return tree.NewSubnamespace(object.(*v1beta1.Subnamespace)), nil
			},
			set:     func(s *tree.Subnamespace) { p.affect(p.tree.SetSubnamespace(s)) },
			remove:  func(s *tree.Subnamespace) { p.affect(p.tree.DeleteSubnamespace(s.Key, s.UID)) },
			replace: p.replaceSubnamespaces,
		})
	p.watchConfiguration(ctx)
	p.watchReleases(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apply(ctx, configuration.Enforced(), nil, true)
	go p.configure(ctx)
}

// naming returns what to call when the first list has come of something that says which kinds are propagated. The kinds, and by that the
// first writes, wait for it.
func (p *Propagator) naming() (synced func()) {
	p.unnamed.Add(1)
	return sync.OnceFunc(p.unnamed.Done)
}

// configurations is the resource of the configuration.
const configurations = "hncconfigurations"

// watchConfiguration watches the configuration, and what tells that kinds come and go.
func (p *Propagator) watchConfiguration(ctx context.Context) {
	client := p.Hierarchy.HncV1beta1().HNCConfigurations()
	p.unsynced.Add(1)
	p.configured = sync.OnceFunc(p.unsynced.Done)
	run(ctx, p, configurations, &v1beta1.HNCConfiguration{}, client, p.watchStore(configurations, client.Watch),
		p.listStore(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) }),
		&feed[*v1beta1.HNCConfiguration]{
			convert: func(object any) (*v1beta1.HNCConfiguration, error) { return object.(*v1beta1.HNCConfiguration), nil },
			set:     p.setConfiguration,
			remove:  func(*v1beta1.HNCConfiguration) { p.setConfiguration(nil) },
			replace: p.replaceConfigurations,
			synced:  p.naming(),
		})
	for _, resource := range []schema.GroupVersionResource{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	} {
		client := p.Metadata.Resource(resource)
		run(ctx, p, resource.Resource, &metav1.PartialObjectMetadata{}, p.Metadata, client.Watch,
			func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
			&feed[*metav1.PartialObjectMetadata]{
				convert: func(object any) (*metav1.PartialObjectMetadata, error) {
					return object.(*metav1.PartialObjectMetadata), nil
				},
				set:     func(*metav1.PartialObjectMetadata) { p.kindsChanged() },
				remove:  func(*metav1.PartialObjectMetadata) { p.kindsChanged() },
				replace: func([]*metav1.PartialObjectMetadata, func(string) bool) { p.kindsChanged() },
				synced:  func() {},
			})
	}
}

// watchKind watches the objects of the kind at a place. The lock must be held. The first writes wait for the first list if first is set.
func (p *Propagator) watchKind(ctx context.Context, place int, first bool) {
	k := p.kinds[place]
	index := k.index
	ctx = p.startWatch(ctx, k, first)
	from := p.originOf(index.Kind)
	// What a watch brings that has ended is nobody's any more.
	current := func() bool { return k.index == index }
	run(ctx, p, index.Kind.GroupResource().String(), from.expected, from.client,
		func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := from.watch(ctx, o)
			if !apierrors.IsInvalid(err) {
				// Otherwise the server can't send lists by a watch, and is asked for one.
				p.reading(place, index, err)
			}
			return w, err
		},
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := from.list(ctx, o)
			p.reading(place, index, err)
			return list, err
		},
		&feed[*copies.Object]{
			convert: from.convert,
			set: func(o *copies.Object) {
				if old, changed := index.Set(o); changed {
					p.observe(place, old, index.Get(o.Namespace, o.Name))
				}
			},
			remove: func(o *copies.Object) {
				if old := index.Delete(o.Namespace, o.Name, o.UID); old != nil {
					p.observe(place, old, nil)
				}
			},
			replace: func(list []*copies.Object, newer func(string) bool) { p.replaceObjects(place, list, newer) },
			synced:  func() { p.completed(place) },
			current: current,
		})
}

// relist returns how long to wait before a watch that failed is made again. The default goes up to half a minute, for which
// everybody who creates a sub-namespace would wait after our API server has been away.
func relist() *wait.Backoff {
	return &wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 5, Cap: 2 * time.Second}
}

// run starts a reflector that feeds the picture with all objects of one type. Unless the feed says what to do when it has its first list, the
// first writes wait for that.
func run[T any](ctx context.Context, p *Propagator, resource string, expected runtime.Object, client any,
	watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error), list cache.ListWithContextFunc, f *feed[T],
) {
	f.lock = &p.mu
	f.advance = func(version string) { p.advance(resource, version) }
	f.back = func(version string) bool { return p.back(resource, version) }
	f.logger = klog.FromContext(ctx)
	if f.synced == nil {
		p.unsynced.Add(1)
		f.synced = sync.OnceFunc(p.unsynced.Done)
	}
	if required(resource) {
		watchFunc, list, f.synced = p.ready.observe(resource, watchFunc, list, f.synced)
	}
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: list, WatchFuncWithContext: watchFunc}, client)
	options := cache.ReflectorOptions{Name: resource, Logger: &f.logger, Backoff: relist()}
	go cache.NewReflectorWithOptions(lw, expected, f, options).RunWithContext(ctx)
}
