package sources

import (
	"context"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// How often the kinds are looked for when nothing has told that they may have changed, and at most.
const (
	resolveAtLeast = time.Minute
	resolveAtMost  = 250 * time.Millisecond
)

// Store is this server's own store of a resource.
type Store interface {
	rest.Lister
	rest.Watcher
}

// Run keeps the index up to date until ctx ends: it watches the kinds that are always propagated, and those that the configuration and the
// hierarchies in the stores name.
func (s *Sources) Run(ctx context.Context, configurations, hierarchies Store) {
	enforced, _ := s.Treatments(time.Now(), Said{})
	s.mu.Lock()
	s.apply(ctx, enforced)
	s.mu.Unlock()
	follow(ctx, "configuration of sources", configurations, s.setConfigurations, s.setConfiguration)
	follow(ctx, "hierarchies of sources", hierarchies, s.setHierarchies, s.setHierarchy)
	timer := time.NewTicker(resolveAtLeast)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.resolve:
		case <-timer.C:
		}
		s.look(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(resolveAtMost):
		}
	}
}

// follow keeps whoever is told of a store's objects up to date: of all of them, then of each that has changed or, if gone is set, has gone.
func follow(ctx context.Context, name string, store Store, replace func([]any), set func(object any, gone bool)) {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return store.List(genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), internal(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return store.Watch(genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), internal(o))
		},
	}
	logger := klog.FromContext(ctx)
	// Without a type, because the store hands out one object to many watchers wrapped in another.
	options := cache.ReflectorOptions{
		Name: name, Logger: &logger,
		// The store is ready a moment after the server has started, and is our own: it is asked soon again.
		Backoff: &wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Jitter: 0.5, Steps: 10, Cap: time.Second},
	}
	go cache.NewReflectorWithOptions(lw, nil, &follower{replace, set}, options).RunWithContext(ctx)
}

// follower is the store that a reflector writes to.
type follower struct {
	replace func([]any)
	set     func(object any, gone bool)
}

func (f *follower) Add(object any) error    { f.set(unwrapped(object), false); return nil }
func (f *follower) Update(object any) error { f.set(unwrapped(object), false); return nil }
func (f *follower) Delete(object any) error { f.set(unwrapped(object), true); return nil }
func (f *follower) Resync() error           { return nil }

func (f *follower) Replace(objects []any, _ string) error {
	for i := range objects {
		objects[i] = unwrapped(objects[i])
	}
	f.replace(objects)
	return nil
}

func unwrapped(object any) any {
	if shared, ok := object.(runtime.CacheableObject); ok {
		return shared.GetObject()
	}
	return object
}

// internal returns the options of a plain list or watch as the store takes them.
func internal(o metav1.ListOptions) *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{
		ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch, Limit: o.Limit, Continue: o.Continue,
		TimeoutSeconds: o.TimeoutSeconds, AllowWatchBookmarks: o.AllowWatchBookmarks, SendInitialEvents: o.SendInitialEvents,
	}
}

// again has the kinds looked for soon.
func (s *Sources) again() {
	select {
	case s.resolve <- struct{}{}:
	default:
	}
}
