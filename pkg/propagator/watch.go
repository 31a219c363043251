package propagator

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/copies"
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
			set:     func(ns *tree.Namespace) { p.affect(p.tree.SetNamespace(ns)) },
			remove:  func(ns *tree.Namespace) { p.affect(p.tree.DeleteNamespace(ns.Name, ns.UID)) },
			replace: p.replaceNamespaces,
		})
	hierarchies := p.Hierarchy.HncV1beta1().Hierarchies(metav1.NamespaceAll)
	run(ctx, p, "hierarchies", &v1beta1.Hierarchy{}, hierarchies, hierarchies.Watch,
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return hierarchies.List(ctx, o)
		},
		&feed[*tree.Hierarchy]{
			convert: func(object any) (*tree.Hierarchy, error) { return tree.NewHierarchy(object.(*v1beta1.Hierarchy)), nil },
			set:     func(h *tree.Hierarchy) { p.affect(p.tree.SetHierarchy(h)) },
			remove:  func(h *tree.Hierarchy) { p.affect(p.tree.DeleteHierarchy(h.Namespace, h.UID)) },
			replace: p.replaceHierarchies,
		})
	subnamespaces := p.Hierarchy.HncV1beta1().Subnamespaces(metav1.NamespaceAll)
	run(ctx, p, "subnamespaces", &v1beta1.Subnamespace{}, subnamespaces, subnamespaces.Watch,
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return subnamespaces.List(ctx, o)
		},
		&feed[*tree.Subnamespace]{
			convert: func(object any) (*tree.Subnamespace, error) {
				return tree.NewSubnamespace(object.(*v1beta1.Subnamespace)), nil
			},
			set:     func(s *tree.Subnamespace) { p.affect(p.tree.SetSubnamespace(s)) },
			remove:  func(s *tree.Subnamespace) { p.affect(p.tree.DeleteSubnamespace(s.Key, s.UID)) },
			replace: p.replaceSubnamespaces,
		})
	for i, kind := range p.Kinds {
		p.watchKind(ctx, i, kind)
	}
}

func (p *Propagator) watchKind(ctx context.Context, i int, kind copies.Kind) {
	client := p.Dynamic.Resource(kind.GroupVersionResource)
	expected := &unstructured.Unstructured{}
	expected.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind))
	run(ctx, p, kind.GroupResource().String(), expected, p.Dynamic, client.Watch,
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		&feed[*copies.Object]{
			convert: func(object any) (*copies.Object, error) {
				return copies.NewObject(object.(*unstructured.Unstructured))
			},
			set: func(o *copies.Object) {
				if old, changed := p.indexes[i].Set(o); changed {
					p.observe(i, old, p.indexes[i].Get(o.Namespace, o.Name))
				}
			},
			remove: func(o *copies.Object) {
				if old := p.indexes[i].Delete(o.Namespace, o.Name, o.UID); old != nil {
					p.observe(i, old, nil)
				}
			},
			// Objects of excluded namespaces would only take space.
			ignore:  func(o *copies.Object) bool { return p.tree.Excluded(o.Namespace) },
			replace: func(list []*copies.Object, newer func(string) bool) { p.replaceObjects(i, list, newer) },
		})
}

// relist returns how long to wait before a watch that failed is made again. The default goes up to half a minute, for which
// everybody who creates a sub-namespace would wait after our API server has been away.
func relist() *wait.Backoff {
	return &wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 5, Cap: 2 * time.Second}
}

// run starts a reflector that feeds the picture with all objects of one type.
func run[T any](ctx context.Context, p *Propagator, resource string, expected runtime.Object, client any,
	watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error), list cache.ListWithContextFunc, f *feed[T],
) {
	f.lock = &p.mu
	f.advance = func(version string) { p.advance(resource, version) }
	f.back = func(version string) bool { return p.back(resource, version) }
	f.logger = klog.FromContext(ctx)
	p.unsynced.Add(1)
	f.synced = sync.OnceFunc(p.unsynced.Done)
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: list, WatchFuncWithContext: watchFunc}, client)
	options := cache.ReflectorOptions{Name: resource, Logger: &f.logger, Backoff: relist()}
	go cache.NewReflectorWithOptions(lw, expected, f, options).RunWithContext(ctx)
}
