package cache

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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

// readiness records how the required watches do: those of namespaces, of our own objects, of what enforces quotas,
// and of Roles and RoleBindings. Other kinds may be
// unreadable; the status of the configuration reports that.
type readiness struct {
	mu sync.Mutex
	// pending are the resources that are not listed yet.
	pending sets.Set[string]
	// failing holds, by resource, why the last request failed.
	failing map[string]string
}

func newReadiness() *readiness {
	return &readiness{pending: sets.New[string](), failing: map[string]string{}}
}

// required reports whether the propagator can do nothing without a resource.
func required(resource string) bool {
	switch resource {
	case namespaces, hierarchies, subnamespaces, configurations, hierarchicalQuotas, quotaObjects, quotaAdmission:
		return true
	}
	return slices.ContainsFunc(copies.Kinds, func(k copies.Kind) bool { return k.GroupResource().String() == resource })
}

// observe wraps the requests of a reflector, and what it calls when its first list is complete, to record their
// results.
func (r *readiness) observe(resource string, w watchFunc, l cache.ListWithContextFunc, synced func()) (watchFunc, cache.ListWithContextFunc, func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending.Insert(resource)
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			result, err := w(ctx, o)
			// After these errors the reflector lists, and the result of that counts.
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

// requested records the result of a request, if the resource is required: only of those, the end of a failure is seen.
func (r *readiness) requested(resource string, err error) {
	if !required(resource) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.failing, resource)
	} else {
		r.failing[resource] = err.Error()
	}
}

// Synced returns an error that names the required resources that are not listed yet.
func (c *Cache) Synced() error {
	c.readiness.mu.Lock()
	defer c.readiness.mu.Unlock()
	if len(c.readiness.pending) > 0 {
		return fmt.Errorf("not listed yet: %s", strings.Join(sets.List(c.readiness.pending), ", "))
	}
	return nil
}

// Watching returns an error that says which required resources cannot be watched now, and why.
func (c *Cache) Watching() error {
	c.readiness.mu.Lock()
	defer c.readiness.mu.Unlock()
	var failing []string
	for _, resource := range slices.Sorted(maps.Keys(c.readiness.failing)) {
		failing = append(failing, fmt.Sprintf("%s cannot be watched: %s", resource, c.readiness.failing[resource]))
	}
	if len(failing) > 0 {
		return errors.New(strings.Join(failing, "; "))
	}
	return nil
}
