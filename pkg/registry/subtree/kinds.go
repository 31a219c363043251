package subtree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// kind is a namespaced kind of the cluster, or that of namespaces, in one version.
type kind struct {
	schema.GroupVersionResource
	// discovered is the kind's discovery document.
	discovered metav1.APIResource
	// rank is the position of the version in its group. The preferred version is the first.
	rank int
}

// name is the kind's name in this group.
func (k kind) name() string { return hnc.ResourcesName(k.GroupResource()) }

// isNamespaces reports whether the objects are namespaces. A Namespace belongs to the subtree like the objects in it,
// and is visible to users allowed to get it.
func (k kind) isNamespaces() bool {
	return k.GroupResource() == corev1.Resource("namespaces")
}

// verbs are the supported verbs that the kind has.
func (k kind) verbs() metav1.Verbs {
	var verbs metav1.Verbs
	for _, verb := range []string{"get", "list", "watch"} {
		if slices.Contains(k.discovered.Verbs, verb) && (verb != "get" || k.isNamespaces()) {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// kinds caches the namespaced kinds of the cluster.
type kinds struct {
	client discovery.DiscoveryInterface
	// changed is called after each refresh.
	changed func()

	refreshing sync.Mutex
	// finding is the refresh that all requests for unknown kinds share.
	finding singleflight.Group

	mu sync.RWMutex
	// known holds the served versions of each kind by its name, the preferred one first.
	known     map[string][]kind
	refreshed time.Time
	synced    bool
}

const (
	// discoveryDebounce is the delay between a change and the refresh that covers it (docs/spec/hnc.md 1.8).
	discoveryDebounce = 500 * time.Millisecond
	// resyncPeriod is the interval of unconditional refreshes, retryPeriod the interval after a partial failure: this
	// server's own group fails until it is ready.
	resyncPeriod, retryPeriod = 30 * time.Second, 5 * time.Second
	// discoveryTimeout bounds a refresh that requests wait for.
	discoveryTimeout = 30 * time.Second
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
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, discovery.ToDiscoveryInterfaceWithContext(k.client))
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	delete(failed, groupVersion) // this server's own group
	if err != nil && !partial {
		return err
	}
	if len(failed) == 0 {
		err = nil
	}
	var found []kind
	for _, versions := range old {
		for _, kept := range versions {
			if _, missing := failed[kept.GroupVersion()]; missing {
				found = append(found, kept)
			}
		}
	}
	found = append(found, kindsOf(groups, lists)...)
	slices.SortStableFunc(found, func(a, b kind) int { return cmp.Compare(a.rank, b.rank) })
	known := map[string][]kind{}
	for _, one := range found {
		known[one.name()] = append(known[one.name()], one)
	}
	k.mu.Lock()
	k.known, k.refreshed, k.synced = known, time.Now(), true
	k.mu.Unlock()
	k.changed()
	return err
}

// kindsOf returns the kinds that can be listed, each in all its versions.
func kindsOf(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) []kind {
	ranks := map[string]int{}
	for _, group := range groups {
		for i, version := range group.Versions {
			ranks[version.GroupVersion] = i + 1
		}
		ranks[group.PreferredVersion.GroupVersion] = 0
	}
	var all []kind
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || gv.Group == groupName {
			continue
		}
		for _, resource := range list.APIResources {
			found := kind{gv.WithResource(resource.Name), resource, ranks[list.GroupVersion]}
			if found.GroupResource() == hnc.Resource("overwrittenobjects") {
				continue // Its permissions are those of the original kinds, and would be checked for this server instead of the caller.
			}
			if (resource.Namespaced || found.isNamespaces()) && !strings.Contains(resource.Name, "/") && slices.Contains(found.verbs(), "list") {
				all = append(all, found)
			}
		}
	}
	return all
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

// find returns the kind with a name in this group, in a version, "" for the preferred one. It fails with NotFound. An
// unknown name or version triggers discovery at most once a second.
func (k *kinds) find(ctx context.Context, name, version string) (kind, error) {
	if found, err := k.lookup(name, version); err == nil {
		return found, nil
	}
	if err := k.share(ctx); err != nil {
		klog.FromContext(ctx).V(2).Info("Discovery of the cluster's kinds is incomplete", "err", err)
	}
	return k.lookup(name, version)
}

// share waits for a refresh, or until the context is done. It is not the caller's: callers that leave do not end it.
func (k *kinds) share(ctx context.Context) error {
	result := k.finding.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discoveryTimeout)
		defer cancel()
		return nil, k.refresh(ctx, time.Second)
	})
	select {
	case r := <-result:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *kinds) lookup(name, version string) (kind, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var served []string
	for _, found := range k.known[name] {
		if version == "" || version == found.Version {
			return found, nil
		}
		served = append(served, found.Version)
	}
	err := apierrors.NewNotFound(groupVersion.WithResource(name).GroupResource(), "")
	err.ErrStatus.Message = "the cluster has no namespaced resource " + name + " that can be listed; name it <group>.<plural>, or <plural> alone for the core group"
	if len(served) > 0 {
		err.ErrStatus.Message = fmt.Sprintf("version: the cluster does not serve %s in version %q; choose one of %s", name, version, strings.Join(served, ", "))
	}
	return kind{}, err
}

// all returns the kinds in their preferred versions, sorted by name.
func (k *kinds) all() []kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	all := make([]kind, 0, len(k.known))
	for _, versions := range k.known {
		all = append(all, versions[0])
	}
	slices.SortFunc(all, func(a, b kind) int { return cmp.Compare(a.name(), b.name()) })
	return all
}
