package view

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// kind is what a resource, or a subresource such as pods/eviction, contains.
type kind struct {
	schema.GroupVersionKind
	namespaced bool
}

// Kinds caches the kinds of the cluster's resources, which are the same for all views and callers.
type Kinds struct {
	client discovery.DiscoveryInterfaceWithContext
	// refreshing is the refresh that all callers share.
	refreshing singleflight.Group

	mu    sync.RWMutex
	known map[schema.GroupVersionResource]kind
	// scopes are those of resources, by their names and groups: whether they are namespaced.
	scopes map[string]map[string]bool
	// groups are all groups.
	groups    map[string]bool
	refreshed time.Time
}

// NewKinds returns the kinds that a client discovers.
func NewKinds(client discovery.DiscoveryInterfaceWithContext) *Kinds { return &Kinds{client: client} }

// An unknown kind refreshes the kinds at most once in minRefresh; known ones do so once in maxRefresh. No refresh takes
// longer than refreshTimeout.
const minRefresh, maxRefresh, refreshTimeout = time.Second, time.Minute, 30 * time.Second

// find returns the kind of a resource, nil if the cluster does not have it. Groups whose servers are unavailable keep
// the kinds that they had, and known kinds do not wait for a refresh.
func (k *Kinds) find(ctx context.Context, resource schema.GroupVersionResource) (*kind, error) {
	found, age := k.lookup(resource)
	switch {
	case found != nil && age > maxRefresh:
		k.share(ctx)
	case found == nil && age > minRefresh:
		if err := k.wait(ctx); err != nil {
			return nil, err
		}
		found, _ = k.lookup(resource)
	}
	return found, nil
}

// lookup returns the kind of a resource, nil if it is not known, and the age of what is known.
func (k *Kinds) lookup(resource schema.GroupVersionResource) (*kind, time.Duration) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	age := time.Since(k.refreshed)
	if found, known := k.known[resource]; known {
		return &found, age
	}
	return nil, age
}

// findAny returns the kind of a resource in any version.
func (k *Kinds) findAny(ctx context.Context, resource schema.GroupResource) (*kind, error) {
	if err := k.current(ctx); err != nil {
		return nil, err
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	for known, found := range k.known {
		if known.GroupResource() == resource {
			return &found, nil
		}
	}
	return nil, nil
}

// share starts a refresh unless one runs. It is not the caller's: callers that leave do not end it.
func (k *Kinds) share(ctx context.Context) <-chan singleflight.Result {
	return k.refreshing.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
		defer cancel()
		return nil, k.refresh(ctx)
	})
}

// wait waits for a refresh, or until the context is done.
func (k *Kinds) wait(ctx context.Context) error {
	select {
	case result := <-k.share(ctx):
		return result.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refresh reads the kinds of the cluster. One refresh runs at a time.
func (k *Kinds) refresh(ctx context.Context) error {
	_, lists, err := k.client.ServerGroupsAndResourcesWithContext(ctx)
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return err
	}
	k.mu.RLock()
	known := k.known // is replaced, never changed
	k.mu.RUnlock()
	found := map[schema.GroupVersionResource]kind{}
	for old, kept := range known {
		if _, unavailable := failed[old.GroupVersion()]; unavailable {
			found[old] = kept
		}
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			of := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
			if of.Version == "" { // that of the resource
				of.Group, of.Version = gv.Group, gv.Version
			}
			found[gv.WithResource(r.Name)] = kind{of, r.Namespaced}
		}
	}
	scopes, groups := map[string]map[string]bool{}, map[string]bool{}
	for resource, kind := range found {
		if scopes[resource.Resource] == nil {
			scopes[resource.Resource] = map[string]bool{}
		}
		scopes[resource.Resource][resource.Group], groups[resource.Group] = kind.namespaced, true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known, k.scopes, k.groups, k.refreshed = found, scopes, groups, time.Now()
	return nil
}

// namespaced reports whether a kind is known to be namespaced. It sends no request.
func (k *Kinds) namespaced(resource schema.GroupVersionResource) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.known[resource].namespaced
}

// scopesOf returns the groups that have a resource, and whether it is namespaced there. It sends no request.
func (k *Kinds) scopesOf(resource string) map[string]bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.scopes[resource] // is replaced, never changed
}

// hasGroup reports whether a group is known. It sends no request.
func (k *Kinds) hasGroup(group string) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.groups[group]
}

// current makes sure that what is known is not older than maxRefresh.
func (k *Kinds) current(ctx context.Context) error { return k.notOlder(ctx, maxRefresh) }

// notOlder makes sure that what is known is not older than an age.
func (k *Kinds) notOlder(ctx context.Context, most time.Duration) error {
	k.mu.RLock()
	age := time.Since(k.refreshed)
	k.mu.RUnlock()
	if age <= most {
		return nil
	}
	return k.wait(ctx)
}
