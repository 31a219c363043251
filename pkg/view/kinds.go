package view

import (
	"context"
	"sync"
	"time"

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

	mu        sync.Mutex
	known     map[schema.GroupVersionResource]kind
	refreshed time.Time
}

// NewKinds returns the kinds that a client discovers.
func NewKinds(client discovery.DiscoveryInterfaceWithContext) *Kinds { return &Kinds{client: client} }

// An unknown kind refreshes the kinds at most once in minRefresh; known ones do so once in maxRefresh.
const minRefresh, maxRefresh = time.Second, time.Minute

// find returns the kind of a resource, nil if the cluster does not have it. Groups whose servers are unavailable keep the
// kinds that they had.
func (k *Kinds) find(ctx context.Context, resource schema.GroupVersionResource) (*kind, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, known := k.known[resource]
	if age := time.Since(k.refreshed); age > maxRefresh || !known && age > minRefresh {
		if err := k.refresh(ctx); err != nil {
			return nil, err
		}
		found, known = k.known[resource]
	}
	if !known {
		return nil, nil
	}
	return &found, nil
}

// findAny does so for a resource in any version.
func (k *Kinds) findAny(ctx context.Context, resource schema.GroupResource) (*kind, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.refreshed) > maxRefresh {
		if err := k.refresh(ctx); err != nil {
			return nil, err
		}
	}
	for known, found := range k.known {
		if known.GroupResource() == resource {
			return &found, nil
		}
	}
	return nil, nil
}

// refresh reads the kinds of the cluster. The caller holds the lock.
func (k *Kinds) refresh(ctx context.Context) error {
	_, lists, err := k.client.ServerGroupsAndResourcesWithContext(ctx)
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return err
	}
	found := map[schema.GroupVersionResource]kind{}
	for old, kept := range k.known {
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
	k.known, k.refreshed = found, time.Now()
	return nil
}

// namespaced reports whether a kind is known to be namespaced. It sends no request.
func (k *Kinds) namespaced(resource schema.GroupVersionResource) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[resource].namespaced
}

// current makes sure that the kinds are known.
func (k *Kinds) current(ctx context.Context) error {
	_, err := k.findAny(ctx, namespaces)
	return err
}
