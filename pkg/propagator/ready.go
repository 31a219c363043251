package propagator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// readiness is what is known about the watches that everything is decided by: of namespaces, of our own objects, and of Roles and
// RoleBindings. Other kinds may be unreadable; the configuration's status says so.
type readiness struct {
	mu sync.Mutex
	// pending are the resources of which no list has come yet.
	pending sets.Set[string]
	// failing says of which resources the last request failed, and why.
	failing map[string]string
}

func newReadiness() *readiness {
	return &readiness{pending: sets.New[string](), failing: map[string]string{}}
}

// required says whether nothing can be decided without a resource.
func required(resource string) bool {
	switch resource {
	case "namespaces", "hierarchies", "subnamespaces", configurations:
		return true
	}
	return slices.ContainsFunc(copies.Kinds, func(k copies.Kind) bool { return k.GroupResource().String() == resource })
}

type watchFunc = func(context.Context, metav1.ListOptions) (watch.Interface, error)

// observe returns the requests of a reflector, and what it calls when its first list is complete, such that their results are recorded.
func (r *readiness) observe(resource string, w watchFunc, l cache.ListWithContextFunc, synced func()) (watchFunc, cache.ListWithContextFunc, func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending.Insert(resource)
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			result, err := w(ctx, o)
			// Otherwise a list is asked for next, whose result counts.
			if !apierrors.IsInvalid(err) && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
				r.requested(resource, err)
			}
			return result, err
		}, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			result, err := l(ctx, o)
			r.requested(resource, err)
			return result, err
		}, func() {
			r.listed(resource)
			synced()
		}
}

func (r *readiness) listed(resource string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending.Delete(resource)
}

func (r *readiness) requested(resource string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.failing, resource)
	} else {
		r.failing[resource] = err.Error()
	}
}

// Synced returns an error that names the resources whose first list has not come yet.
func (p *Propagator) Synced() error {
	p.ready.mu.Lock()
	defer p.ready.mu.Unlock()
	if len(p.ready.pending) > 0 {
		return fmt.Errorf("not listed yet: %s", strings.Join(sets.List(p.ready.pending), ", "))
	}
	return nil
}

// Watching returns an error that says which resources cannot be watched now, and why.
func (p *Propagator) Watching() error {
	p.ready.mu.Lock()
	defer p.ready.mu.Unlock()
	var failing []string
	for _, resource := range slices.Sorted(maps.Keys(p.ready.failing)) {
		failing = append(failing, fmt.Sprintf("%s cannot be watched: %s", resource, p.ready.failing[resource]))
	}
	if len(failing) > 0 {
		return errors.New(strings.Join(failing, "; "))
	}
	return p.Lost()
}

// Leads says whether this replica writes.
func (p *Propagator) Leads() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.leading
}
