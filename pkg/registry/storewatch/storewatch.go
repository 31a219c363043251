// Package storewatch follows the objects of one of this server's own stores.
package storewatch

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

// Source is the storage of one of this server's resources.
type Source interface {
	rest.Lister
	rest.Watcher
}

// Run calls replace with all objects of a store and then set for each changed object, until the context ends. gone
// reports that it was deleted. It returns at once, with a function that returns the resource version up to which they
// have been called.
func Run(ctx context.Context, name string, store Source, replace func([]any), set func(object any, gone bool)) (version func() string) {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return store.List(genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), internal(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return store.Watch(genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), internal(o))
		},
	}
	logger := klog.FromContext(ctx)
	// No expected type, because the store wraps an object that it sends to many watchers.
	options := cache.ReflectorOptions{
		Name: name, Logger: &logger,
		// The store is local and ready shortly after the server starts, so it is retried soon.
		Backoff: &wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Jitter: 0.5, Steps: 10, Cap: time.Second},
	}
	r := cache.NewReflectorWithOptions(lw, nil, &reflectorStore{replace, set}, options)
	go r.RunWithContext(ctx)
	return r.LastSyncResourceVersion
}

// reflectorStore adapts callbacks to a reflector.
type reflectorStore struct {
	replace func([]any)
	set     func(object any, gone bool)
}

func (f *reflectorStore) Add(object any) error    { f.set(unwrapped(object), false); return nil }
func (f *reflectorStore) Update(object any) error { f.set(unwrapped(object), false); return nil }
func (f *reflectorStore) Delete(object any) error { f.set(unwrapped(object), true); return nil }
func (f *reflectorStore) Resync() error           { return nil }

func (f *reflectorStore) Replace(objects []any, _ string) error {
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

// internal returns the internal version of list options.
func internal(o metav1.ListOptions) *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{
		ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch, Limit: o.Limit, Continue: o.Continue,
		TimeoutSeconds: o.TimeoutSeconds, AllowWatchBookmarks: o.AllowWatchBookmarks, SendInitialEvents: o.SendInitialEvents,
	}
}
