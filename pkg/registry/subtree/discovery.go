package subtree

import (
	"context"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// groupName is the API group that this package serves.
const groupName = hnc.ResourcesGroupName

var groupVersion = hnc.ResourcesGroupVersion

// group is the group's discovery document.
func group() metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: groupVersion.String(), Version: groupVersion.Version}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"},
		Name:     groupName, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

// ListAPIResources returns one resource for each kind, with no verbs but list and watch: the namespace controller and
// the garbage collector ignore resources that cannot be deleted. Short names, singular names and categories are
// omitted because kubectl warns about ambiguous short names.
func (k *kinds) ListAPIResources() []metav1.APIResource {
	var resources []metav1.APIResource
	for _, known := range k.all() {
		gvk := known.gvk()
		resources = append(resources, metav1.APIResource{
			Name: known.name(), Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind,
			Namespaced: true, Verbs: known.verbs(), StorageVersionHash: known.discovered.StorageVersionHash,
		})
	}
	return resources
}

// aggregated returns the same resources for aggregated discovery.
func (k *kinds) aggregated() apidiscoveryv2.APIVersionDiscovery {
	version := apidiscoveryv2.APIVersionDiscovery{Version: groupVersion.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for _, known := range k.all() {
		gvk := known.gvk()
		version.Resources = append(version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource:     known.name(),
			ResponseKind: &metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
			Scope:        apidiscoveryv2.ScopeNamespace,
			Verbs:        known.verbs(),
		})
	}
	return version
}

// gvk returns the kind of the objects. Its group may differ from the group of the resource.
func (k kind) gvk() schema.GroupVersionKind {
	gvk := k.GroupVersion().WithKind(k.discovered.Kind)
	if k.discovered.Version != "" {
		gvk.Group, gvk.Version = k.discovered.Group, k.discovered.Version
	}
	return gvk
}

// watchDefinitions returns a channel that is signaled when a CustomResourceDefinition or an APIService changes, on
// which a cluster's kinds depend.
func watchDefinitions(ctx context.Context, informers metadatainformer.SharedInformerFactory) (<-chan struct{}, error) {
	hint := make(chan struct{}, 1)
	notify := func() {
		select {
		case hint <- struct{}{}:
		default:
		}
	}
	for _, resource := range []schema.GroupVersionResource{hnc.CRDResource, hnc.APIServiceResource} {
		_, err := informers.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { notify() },
			UpdateFunc: func(any, any) { notify() },
			DeleteFunc: func(any) { notify() },
		})
		if err != nil {
			return nil, err
		}
	}
	informers.Start(ctx.Done())
	return hint, nil
}

// otherRevisions reports whether the revisions of a kind are not those of namespaces: another API server than
// kube-apiserver serves it, or it is that of events, which kube-apiserver may keep in an etcd of their own.
func otherRevisions(services cache.GenericLister, gvr schema.GroupVersionResource) bool {
	if gvr.Resource == "events" && (gvr.Group == corev1.GroupName || gvr.Group == eventsv1.GroupName) {
		return true
	}
	found, err := services.Get(gvr.Version + "." + gvr.Group)
	if err != nil {
		return false
	}
	service, err := meta.Accessor(found)
	if err != nil {
		return false
	}
	managed := service.GetLabels()[hnc.LabelAutoManaged]
	return managed != "true" && managed != "onstart"
}
