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
	// discovered is what the cluster says of it.
	discovered metav1.APIResource
}

// name is the kind's name in our group: the plural for core, <group>.<plural> otherwise.
func (k kind) name() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Group + "." + k.Resource
}

// verbs are those that can be passed on.
func (k kind) verbs() metav1.Verbs {
	var verbs metav1.Verbs
	for _, verb := range []string{"list", "watch"} {
		if slices.Contains(k.discovered.Verbs, verb) {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// kinds knows the namespaced kinds of the cluster, each in its preferred version.
type kinds struct {
	client discovery.DiscoveryInterface
	// changed is called after the kinds have changed.
	changed func()

	refreshing sync.Mutex

	mu     sync.RWMutex
	known  map[string]kind
	asked  time.Time
	synced bool
}

const (
	// settle is how long changes are waited for after one (spec/hnc.md 1.8).
	settle = 500 * time.Millisecond
	// repeat is when the cluster is asked again if nothing happens, again when it is if some group did not answer, as ours does not
	// at the beginning.
	repeat, again = 30 * time.Second, 5 * time.Second
)

// run keeps the kinds up to date until ctx is done; hint tells that something has changed.
func (k *kinds) run(ctx context.Context, hint <-chan struct{}) {
	for ctx.Err() == nil {
		wait := repeat
		if err := k.refresh(ctx, 0); err != nil {
			klog.FromContext(ctx).Error(err, "The kinds of the cluster are not known completely")
			if wait = again; k.ready(nil) != nil {
				wait = time.Second
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		case <-hint:
			select {
			case <-ctx.Done():
			case <-time.After(settle):
			}
		}
	}
}

// refresh asks the cluster, unless that was done less than age ago. Kinds of groups that do not answer stay as they were; the
// error tells of them.
func (k *kinds) refresh(ctx context.Context, age time.Duration) error {
	k.refreshing.Lock()
	defer k.refreshing.Unlock()
	k.mu.RLock()
	old, fresh := k.known, age > 0 && time.Since(k.asked) < age
	k.mu.RUnlock()
	if fresh {
		return nil
	}
	lists, err := discovery.ServerPreferredNamespacedResourcesWithContext(ctx, discovery.ToDiscoveryInterfaceWithContext(k.client))
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	delete(failed, groupVersion) // nobody but us
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
		if err != nil || gv.Group == GroupName {
			continue
		}
		for _, resource := range list.APIResources {
			found := kind{gv.WithResource(resource.Name), resource}
			if found.GroupResource() == hnc.Resource("overwrittenobjects") {
				continue // Its rights are those of the original kinds, and are asked for of this server, which reads on behalf of others.
			}
			if !strings.Contains(resource.Name, "/") && slices.Contains(found.verbs(), "list") {
				known[found.name()] = found
			}
		}
	}
	k.mu.Lock()
	k.known, k.asked, k.synced = known, time.Now(), true
	k.mu.Unlock()
	k.changed()
	return err
}

// ready is a readiness check: nil once the cluster has been asked.
func (k *kinds) ready(*http.Request) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if !k.synced {
		return errors.New("the kinds of the cluster have not been read yet")
	}
	return nil
}

// find returns the kind of a name in our group. For one that it misses it asks the cluster, at most once a second.
func (k *kinds) find(ctx context.Context, name string) (kind, bool) {
	k.mu.RLock()
	found, ok := k.known[name]
	k.mu.RUnlock()
	if ok {
		return found, true
	}
	if err := k.refresh(ctx, time.Second); err != nil {
		klog.FromContext(ctx).V(2).Info("The kinds of the cluster are not known completely", "err", err)
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	found, ok = k.known[name]
	return found, ok
}

// all returns the kinds, sorted by their names in our group.
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
