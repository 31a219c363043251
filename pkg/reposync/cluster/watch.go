package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// watch is the watch of the objects of a kind.
type watch struct {
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer
	handlers cache.ResourceEventHandlerRegistration
	cancel   context.CancelFunc
	done     chan struct{}
	mu       sync.Mutex
	err      error
}

func (w *watch) stop() {
	w.cancel()
	<-w.done
}

// failure returns why the kind cannot be watched.
func (w *watch) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *watch) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
}

// selector selects the objects of a kind that the RepositorySync has applied. Copies in descendants have the source's
// labels, but they are the propagator's. There are none of cluster-scoped objects, whatever their labels say.
func (c *Cluster) selector(kind schema.GroupKind) labels.Selector {
	owner, err := labels.NewRequirement(hnc.LabelRepositorySync, selection.Equals, []string{c.sync})
	if err != nil {
		return labels.Nothing()
	}
	if c.clusterScoped(kind) {
		return labels.NewSelector().Add(*owner)
	}
	original, err := labels.NewRequirement(hnc.LabelInheritedFrom, selection.DoesNotExist, nil)
	if err != nil {
		return labels.Nothing()
	}
	return labels.NewSelector().Add(*owner, *original)
}

// Watch starts the missing watches of the kinds, ends the failing ones of other kinds, and waits until all objects are
// listed. It returns an error for each kind that cannot be watched; their objects are not known.
func (c *Cluster) Watch(ctx context.Context, kinds []schema.GroupKind, patience time.Duration) map[schema.GroupKind]error {
	c.endFailing(kinds)
	failed := map[schema.GroupKind]error{}
	var started []*watch
	byWatch := map[*watch]schema.GroupKind{}
	for _, kind := range kinds {
		resource, err := c.resource(kind, "")
		if err != nil {
			failed[kind] = err
			continue
		}
		w := c.watchOf(kind, resource)
		started = append(started, w)
		byWatch[w] = kind
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, w := range started {
		if w.wait(ctx) {
			continue
		}
		err := w.failure()
		if err == nil {
			err = fmt.Errorf("no complete list after %s", patience)
		}
		failed[byWatch[w]] = fmt.Errorf("cannot watch %s: %w", w.resource.GroupResource(), err)
	}
	return failed
}

// endFailing ends the watches of all kinds but these that have not listed their objects.
func (c *Cluster) endFailing(except []schema.GroupKind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, w := range c.watches {
		if !slices.Contains(except, kind) && !w.handlers.HasSynced() {
			w.cancel()
			delete(c.watches, kind)
		}
	}
}

// wait returns true when all objects have been listed and recorded, and false when the watch has failed or the context
// has ended.
func (w *watch) wait(ctx context.Context) bool {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !w.handlers.HasSynced() {
		if w.failure() != nil || ctx.Err() != nil {
			return false
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	return true
}

// watchOf returns the watch of a kind, and starts it if there is none for its present resource.
func (c *Cluster) watchOf(kind schema.GroupKind, resource schema.GroupVersionResource) *watch {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watches[kind]; w != nil && w.resource == resource {
		return w
	} else if w != nil {
		w.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{resource: resource, cancel: cancel, done: make(chan struct{})}
	selector := c.selector(kind).String()
	w.informer = metadatainformer.NewFilteredMetadataInformer(c.client, resource, metav1.NamespaceAll, 0, cache.Indexers{}, func(o *metav1.ListOptions) {
		o.LabelSelector = selector
		if o.TimeoutSeconds == nil || o.SendInitialEvents != nil {
			c.beginList(kind, w.informer.LastSyncResourceVersion())
		}
	}).Informer()
	// Errors of an informer that has not started are impossible.
	_ = w.informer.SetTransform(func(o any) (any, error) { return c.shrink(o), nil })
	_ = w.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { w.fail(err) })
	w.handlers, _ = w.informer.AddEventHandler(c.handler(kind, w))
	go func() {
		defer close(w.done)
		w.informer.RunWithContext(ctx)
	}()
	c.watches[kind] = w
	return w
}

// shrink drops everything that is not needed from an object, because there are many. Informers may call it again for
// the result.
func (c *Cluster) shrink(o any) any {
	m, ok := o.(*metav1.PartialObjectMetadata)
	if !ok || m.Kind == shrunk {
		return o
	}
	state, err := json.Marshal(c.liveOf(m))
	if err != nil {
		return o
	}
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: shrunk}, ObjectMeta: metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Annotations: map[string]string{shrunk: string(state)},
	}}
}

// shrunk is the kind of objects in memory, and their annotation that contains their state.
const shrunk = "shrunk"

// handler records the events of a kind.
func (c *Cluster) handler(kind schema.GroupKind, w *watch) cache.ResourceEventHandler {
	state := func(o any) (id plan.ID, live plan.Live, ok bool) {
		m, ok := o.(*metav1.PartialObjectMetadata)
		if !ok || m.Kind != shrunk || json.Unmarshal([]byte(m.Annotations[shrunk]), &live) != nil {
			return id, live, false
		}
		return plan.ID{Kind: kind, Namespace: m.Namespace, Name: m.Name}, live, true
	}
	put := func(o any) {
		w.fail(nil)
		if id, live, ok := state(o); ok && c.put(id, live) {
			c.changed()
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, o any) { put(o) },
		DeleteFunc: func(o any) {
			missed, unseen := o.(cache.DeletedFinalStateUnknown)
			if unseen {
				o = missed.Obj
			}
			id, live, ok := state(o)
			if unseen {
				live.Version = 0
			}
			if ok && c.remove(id, live) {
				c.changed()
			}
		},
	}
}

// Manager is the field manager of a RepositorySync.
func Manager(sync string) string { return "hns-sync-" + sync }
