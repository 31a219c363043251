package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// watchKind watches the objects of a kind. If first is set, the first writes wait for the first list.
func (c *Cache) watchKind(ctx context.Context, s *State, kind int, first bool) {
	k := s.kinds[kind]
	ctx, k.stop = context.WithCancel(ctx)
	k.resolved = func() {}
	if first {
		c.unlisted.Add(1)
		k.resolved = sync.OnceFunc(c.unlisted.Done)
	}
	index := k.Index
	from := c.sourceOf(index.Kind)
	reflect(ctx, c, index.Kind.GroupResource().String(), from.expected, from.client,
		c.recordReads(kind, index, from),
		&store[*copies.Object]{
			convert: from.convert,
			set: func(o *copies.Object) {
				if old, changed := index.Set(o); changed {
					s.objectChanged(kind, old, index.Get(o.Namespace, o.Name))
				}
			},
			remove: func(o *copies.Object) {
				if old := index.Delete(o.Namespace, o.Name, o.UID); old != nil {
					s.objectChanged(kind, old, nil)
				}
			},
			known: index.All,
			identify: func(o *copies.Object) (types.NamespacedName, string) {
				return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}, o.ResourceVersion
			},
			synced: func() { s.kindListed(kind) },
			// A watch that was stopped may still send events.
			current: func() bool { return k.Index == index },
		})
}

// recordReads returns the requests of a source, and records whether they succeed. A reflector that fails to begin with a
// watch lists next, unless the server is busy or down, and watches after a list: only its last request has a result that
// stays the same.
func (c *Cache) recordReads(kind int, index *copies.Index, from source) *cache.ListWatch {
	return &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := from.watch(ctx, o)
			if err == nil || o.SendInitialEvents == nil || apierrors.IsTooManyRequests(err) || utilnet.IsConnectionRefused(err) {
				c.recordRead(kind, index, err)
			}
			return w, err
		},
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := from.list(ctx, o)
			if err != nil {
				c.recordRead(kind, index, err)
			}
			return list, err
		},
	}
}

// recordRead records the result of a request for the objects of a kind.
func (c *Cache) recordRead(kind int, index *copies.Index, err error) {
	if errors.Is(err, context.Canceled) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	var text string
	if err != nil {
		text = fmt.Sprintf("%s can't be read: %v%s", index.Kind.GroupResource(), err, outcome.MissingPermissionHint(index.Kind.GroupResource(), err))
	}
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		text += "; propagation requires an API that lists and watches: if this persists, remove the entry"
	}
	c.Update(func(s *State) { s.setReadError(kind, index, text) })
}
