package gateway

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// Views are the handlers of all TenantViews, by their namespaces.
type Views struct {
	// Tree has their namespaces, Kinds those of the cluster, and Caller connects to Server as the caller of a request.
	Tree   *Tree
	Kinds  *view.Kinds
	Server *url.URL
	Caller func(*http.Request) (*view.Connection, error)
	// Limits are those of each view.
	Limits Limits
	// Metrics count their requests. Nil means that nothing counts them.
	Metrics *Metrics
	// Usable returns why nothing can be served, nil if it can.
	Usable func() error
	// Stopping ends their watches and other streams when it is done.
	Stopping context.Context

	mu     sync.Mutex
	view   map[string]*served
	shared *shared
}

// served is a view while it is as its TenantView describes it. Then its requests end.
type served struct {
	uid        types.UID
	generation int64
	handler    http.Handler
	ctx        context.Context
	end        context.CancelFunc
}

// Handler returns what keeps the views up to date with an informer of TenantViews.
func (v *Views) Handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { v.set(o.(*v1alpha3.TenantView)) },
		UpdateFunc: func(_, o any) { v.set(o.(*v1alpha3.TenantView)) },
		DeleteFunc: func(o any) {
			if name, err := cache.DeletionHandlingObjectToName(o); err == nil {
				v.remove(name.Namespace)
			}
		},
	}
}

func (v *Views) set(o *v1alpha3.TenantView) {
	if o.DeletionTimestamp != nil {
		v.remove(o.Namespace)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if old := v.view[o.Namespace]; old != nil {
		if old.uid == o.UID && old.generation == o.Generation {
			return
		}
		old.end()
	}
	s := &served{uid: o.UID, generation: o.Generation}
	s.ctx, s.end = context.WithCancel(context.Background())
	if v.shared == nil {
		v.shared = newShared(v.Limits, v.Metrics)
	}
	in := members{v.Tree, o.Namespace}
	var projected []schema.GroupResource
	for _, resource := range o.Spec.Projected {
		projected = append(projected, schema.GroupResource(resource))
	}
	s.handler = view.New(view.Config{
		Root: o.Namespace, Server: v.Server, Caller: v.Caller, Members: in, Kinds: v.Kinds, Projected: projected,
		Mapper: mapping.New(mapping.NewNames(mapping.Of(o, in.Has)), view.Groups(o.Namespace, in, v.Kinds)),
		Budget: newBudget(v.Limits, v.shared), Stopping: v.Stopping,
	})
	if v.view == nil {
		v.view = map[string]*served{}
	}
	v.view[o.Namespace] = s
}

func (v *Views) remove(namespace string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if old := v.view[namespace]; old != nil {
		old.end()
		delete(v.view, namespace)
		v.Tree.forget(namespace)
	}
}

// get returns the view of a namespace, nil if it has none.
func (v *Views) get(namespace string) *served {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view[namespace]
}

// serve serves a request of a view, to the end of the view: it is a request of another one then.
func (s *served) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(s.ctx, func() { cancel(view.Interrupted(r, "the TenantView was changed or deleted; send the request again")) })
	defer stop()
	s.handler.ServeHTTP(w, r.WithContext(ctx))
}
