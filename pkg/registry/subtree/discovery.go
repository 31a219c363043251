package subtree

import (
	"context"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// GroupName is the name of the group.
const GroupName = hnc.ResourcesGroupName

var groupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha2"}

// group returns what discovery says of the group.
func group() metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: groupVersion.String(), Version: groupVersion.Version}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"},
		Name:     GroupName, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

// ListAPIResources returns one resource for each kind, with the verbs list and watch at most: what can't be deleted, the
// namespace controller and the garbage collector leave alone. Short names, singular names and categories are not repeated,
// for kubectl warns of a short name that stands for two resources.
func (k *kinds) ListAPIResources() []metav1.APIResource {
	var resources []metav1.APIResource
	for _, known := range k.all() {
		gvk := known.kind()
		resources = append(resources, metav1.APIResource{
			Name: known.name(), Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind,
			Namespaced: true, Verbs: known.verbs(), StorageVersionHash: known.discovered.StorageVersionHash,
		})
	}
	return resources
}

// aggregated returns the same for aggregated discovery.
func (k *kinds) aggregated() apidiscoveryv2.APIVersionDiscovery {
	version := apidiscoveryv2.APIVersionDiscovery{Version: groupVersion.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for _, known := range k.all() {
		gvk := known.kind()
		version.Resources = append(version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource:     known.name(),
			ResponseKind: &metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
			Scope:        apidiscoveryv2.ScopeNamespace,
			Verbs:        known.verbs(),
		})
	}
	return version
}

// kind returns the kind of the objects, which may be of another group than the resource.
func (k kind) kind() schema.GroupVersionKind {
	gvk := k.GroupVersion().WithKind(k.discovered.Kind)
	if k.discovered.Version != "" {
		gvk.Group, gvk.Version = k.discovered.Group, k.discovered.Version
	}
	return gvk
}

// hints returns a channel that holds something after a CustomResourceDefinition or an APIService has changed.
func hints(ctx context.Context, client metadata.Interface) (<-chan struct{}, error) {
	hint := make(chan struct{}, 1)
	tell := func() {
		select {
		case hint <- struct{}{}:
		default:
		}
	}
	informers := metadatainformer.NewSharedInformerFactory(client, 0)
	for _, resource := range []schema.GroupVersionResource{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	} {
		_, err := informers.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { tell() },
			UpdateFunc: func(any, any) { tell() },
			DeleteFunc: func(any) { tell() },
		})
		if err != nil {
			return nil, err
		}
	}
	informers.Start(ctx.Done())
	return hint, nil
}
