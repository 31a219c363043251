package hnc

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the hierarchy resources.
const GroupName = "hnc.x-k8s.io"

// Category is the group of resources that `kubectl get hns` lists.
const Category = "hns"

// ResourcesGroupName is the API group for reading other kinds across a subtree (docs/spec/hnc.md 1.8).
const ResourcesGroupName = "resources.hnc.x-k8s.io"

// ResourcesGroupVersion is the version of that group. Source: docs/spec/hnc.md 1.8.
var ResourcesGroupVersion = schema.GroupVersion{Group: ResourcesGroupName, Version: "v1alpha2"}

// ViewGroupVersion is the API that hns-gateway serves: the subresource proxy of TenantViews.
var ViewGroupVersion = schema.GroupVersion{Group: "view.hnc.x-k8s.io", Version: "v1alpha1"}

// TenantViewSingleton is the only name of a TenantView.
const TenantViewSingleton = "view"

// ViewRootName is the name of a view's namespace in the view, if its names are relative.
const ViewRootName = "default"

// ViewPath returns the path of the view of a namespace at kube-apiserver.
func ViewPath(namespace string) string {
	return "/apis/" + ViewGroupVersion.String() + "/namespaces/" + namespace + "/tenantviews/" + TenantViewSingleton + "/proxy"
}

// ResourcesName returns the name of a resource in that group: <plural> for the core group, <group>.<plural> otherwise.
func ResourcesName(resource schema.GroupResource) string {
	if resource.Group == "" {
		return resource.Resource
	}
	return resource.Group + "." + resource.Resource
}

// SchemeGroupVersion is the hub's group version.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}

// Resource returns the qualified form of a resource of this group.
func Resource(resource string) schema.GroupResource {
	return schema.GroupResource{Group: GroupName, Resource: resource}
}

var (
	// SchemeBuilder collects the functions that add this package's types to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme adds this package's types to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// addKnownTypes registers each hub type under its kinds in the served versions. Objects are stored under the kind
// that is registered first.
func addKnownTypes(scheme *runtime.Scheme) error {
	for _, t := range []struct {
		object runtime.Object
		kinds  []string
	}{
		{&Hierarchy{}, []string{"Hierarchy", "HierarchyConfiguration"}},
		{&HierarchyList{}, []string{"HierarchyList", "HierarchyConfigurationList"}},
		{&Subnamespace{}, []string{"Subnamespace", "SubnamespaceAnchor"}},
		{&SubnamespaceList{}, []string{"SubnamespaceList", "SubnamespaceAnchorList"}},
		{&HNCConfiguration{}, []string{"HNCConfiguration"}},
		{&HierarchyPlan{}, []string{"HierarchyPlan"}},
		{&HNCConfigurationList{}, []string{"HNCConfigurationList"}},
		{&HierarchicalResourceQuota{}, []string{"HierarchicalResourceQuota"}},
		{&HierarchicalResourceQuotaList{}, []string{"HierarchicalResourceQuotaList"}},
		{&OverwrittenObject{}, []string{"OverwrittenObject"}},
		{&OverwrittenObjectList{}, []string{"OverwrittenObjectList"}},
		{&CopyRelease{}, []string{"CopyRelease"}},
		{&CopyReleaseList{}, []string{"CopyReleaseList"}},
		{&RepositorySync{}, []string{"RepositorySync"}},
		{&RepositorySyncList{}, []string{"RepositorySyncList"}},
		{&TenantView{}, []string{"TenantView"}},
		{&TenantViewList{}, []string{"TenantViewList"}},
		{&ViewDefinition{}, []string{"ViewDefinition"}},
		{&ViewDefinitionList{}, []string{"ViewDefinitionList"}},
		{&HierarchyTree{}, []string{"HierarchyTree"}},
		{&MyNamespace{}, []string{"MyNamespace"}},
		{&MyNamespaceList{}, []string{"MyNamespaceList"}},
	} {
		for _, kind := range t.kinds {
			scheme.AddKnownTypeWithName(SchemeGroupVersion.WithKind(kind), t.object)
		}
	}
	return nil
}
