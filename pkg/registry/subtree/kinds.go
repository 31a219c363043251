package subtree

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// kind is a namespaced kind of the cluster.
type kind struct {
	schema.GroupVersionResource
	// discovered is the kind's discovery document.
	discovered metav1.APIResource
}

// name is the kind's name in this group: <plural> for the core group, <group>.<plural> otherwise.
func (k kind) name() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Group + "." + k.Resource
}

// verbs are the supported verbs that the kind has.
func (k kind) verbs() metav1.Verbs {
	var verbs metav1.Verbs
	for _, verb := range []string{"list", "watch"} {
		if slices.Contains(k.discovered.Verbs, verb) {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// kinds caches the namespaced kinds of the cluster, each in its preferred version.
type kinds struct {
	client discovery.DiscoveryInterface
	// changed is called after each refresh.
	changed func()

	refreshing sync.Mutex

	mu        sync.RWMutex
	known     map[string]kind
	refreshed time.Time
	synced    bool
}

const (
	// discoveryDebounce is the delay between a change and the refresh that covers it (docs/spec/hnc.md 1.8).
	discoveryDebounce = 500 * time.Millisecond
	// resyncPeriod is the interval of unconditional refreshes, retryPeriod the interval after a partial failure: this
	// server's own group fails until it is ready.
	resyncPeriod, retryPeriod = 30 * time.Second, 5 * time.Second
)

// run refreshes the kinds until ctx is done; hint is signaled when they may have changed.
func (k *kinds) run(ctx context.Context, hint <-chan struct{}) {
	for ctx.Err() == nil {
		wait := resyncPeriod
		if err := k.refresh(ctx, 0); err != nil {
			klog.FromContext(ctx).Error(err, "Discovery of the cluster's kinds is incomplete")
			if wait = retryPeriod; k.ready(nil) != nil {
				wait = time.Second
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		case <-hint:
			select {
			case <-ctx.Done():
			case <-time.After(discoveryDebounce):
			}
		}
	}
}

// refresh runs discovery unless the last run is younger than age. Kinds of groups that fail are kept, and the error
// names these groups.
func (k *kinds) refresh(ctx context.Context, age time.Duration) error {
	k.refreshing.Lock()
	defer k.refreshing.Unlock()
	k.mu.RLock()
	old, fresh := k.known, age > 0 && time.Since(k.refreshed) < age
	k.mu.RUnlock()
	if fresh {
		return nil
	}
	lists, err := discovery.ServerPreferredNamespacedResourcesWithContext(ctx, discovery.ToDiscoveryInterfaceWithContext(k.client))
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	delete(failed, groupVersion) // this server's own group
	if err != nil && !partial {
		return err
	}
	if len(failed) == 0 {
		err = nil
	}
	known := map[string]kind{}
	for _, kept := range old {
		if _, missing := failed[kept.GroupVersion()]; missing {
			known[kept.name()] = kept
		}
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || gv.Group == groupName {
			continue
		}
		for _, resource := range list.APIResources {
			found := kind{gv.WithResource(resource.Name), resource}
			if found.GroupResource() == hnc.Resource("overwrittenobjects") {
				continue // Its permissions are those of the original kinds, and would be checked for this server instead of the caller.
			}
			if !strings.Contains(resource.Name, "/") && slices.Contains(found.verbs(), "list") {
				known[found.name()] = found
			}
		}
	}
	k.mu.Lock()
	k.known, k.refreshed, k.synced = known, time.Now(), true
	k.mu.Unlock()
	k.changed()
	return err
}

// ready is a readiness check that passes once discovery has succeeded.
func (k *kinds) ready(*http.Request) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if !k.synced {
		return errors.New("discovery of the cluster's kinds has not completed")
	}
	return nil
}

// find returns the kind with a name in this group. An unknown name triggers discovery at most once a second.
func (k *kinds) find(ctx context.Context, name string) (kind, bool) {
	k.mu.RLock()
	found, ok := k.known[name]
	k.mu.RUnlock()
	if ok {
		return found, true
	}
	if err := k.refresh(ctx, time.Second); err != nil {
		klog.FromContext(ctx).V(2).Info("Discovery of the cluster's kinds is incomplete", "err", err)
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	found, ok = k.known[name]
	return found, ok
}

// all returns the kinds, sorted by name.
func (k *kinds) all() []kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	all := make([]kind, 0, len(k.known))
	for _, known := range k.known {
		all = append(all, known)
	}
	slices.SortFunc(all, func(a, b kind) int { return cmp.Compare(a.name(), b.name()) })
	return all
}
