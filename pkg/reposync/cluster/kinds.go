package cluster

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// kinds are the kinds that the cluster serves.
type kinds struct {
	mapper meta.RESTMapper
	scopes kindscope.Table
	// byResource are the kinds of resources.
	byResource map[schema.GroupResource]schema.GroupKind
	// namespaced are the resources that a namespace contains, in one version each.
	namespaced []schema.GroupVersionResource
	// deletable are the kinds whose objects can be listed and deleted, without those that nobody puts in a repository.
	deletable []schema.GroupKind
	// incomplete is the error of API services that do not respond.
	incomplete error
}

// discover reads the kinds. The client's own methods for a mapper lose the error of a single API service.
func discover(ctx context.Context, client discovery.DiscoveryInterface) (*kinds, error) {
	found := &kinds{scopes: kindscope.Table{}, byResource: map[schema.GroupResource]schema.GroupKind{}}
	with := discovery.ToDiscoveryInterfaceWithContext(client)
	groups, lists, err := with.ServerGroupsAndResourcesWithContext(ctx)
	var partial *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partial) {
		return nil, err
	}
	found.incomplete = err
	byVersion := map[string]*metav1.APIResourceList{}
	for _, list := range lists {
		byVersion[list.GroupVersion] = list
	}
	var resources []*restmapper.APIGroupResources
	seen := map[schema.GroupResource]bool{}
	for _, group := range groups {
		one := &restmapper.APIGroupResources{Group: *group, VersionedResources: map[string][]metav1.APIResource{}}
		// The preferred version comes first.
		versions := slices.Clone(group.Versions)
		slices.SortStableFunc(versions, func(a, b metav1.GroupVersionForDiscovery) int {
			return rank(a, group.PreferredVersion) - rank(b, group.PreferredVersion)
		})
		for _, version := range versions {
			list := byVersion[version.GroupVersion]
			if list == nil {
				continue
			}
			one.VersionedResources[version.Version] = list.APIResources
			found.add(schema.GroupVersion{Group: group.Name, Version: version.Version}, list.APIResources, seen)
		}
		resources = append(resources, one)
	}
	found.mapper = restmapper.NewDiscoveryRESTMapper(resources)
	return found, nil
}

func rank(version, preferred metav1.GroupVersionForDiscovery) int {
	if version == preferred {
		return 0
	}
	return 1
}

func (k *kinds) add(version schema.GroupVersion, resources []metav1.APIResource, seen map[schema.GroupResource]bool) {
	for i := range resources {
		r := &resources[i]
		if slices.Contains([]byte(r.Name), '/') {
			continue
		}
		k.scopes[schema.GroupKind{Group: version.Group, Kind: r.Kind}] = r.Namespaced
		id, kind := schema.GroupResource{Group: version.Group, Resource: r.Name}, object.Canonical(schema.GroupKind{Group: version.Group, Kind: r.Kind})
		k.byResource[id] = kind
		if seen[id] || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") {
			continue
		}
		seen[id] = true
		if r.Namespaced {
			k.namespaced = append(k.namespaced, version.WithResource(r.Name))
		}
		if !slices.Contains(transient, id) && !slices.Contains(k.deletable, kind) {
			k.deletable = append(k.deletable, kind)
		}
	}
}
