package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the hierarchy resources.
const GroupName = "hnc.x-k8s.io"

// SchemeGroupVersion is the group version of this package's types.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha3"}

var (
	// SchemeBuilder collects the functions that add this package's types to a scheme.
	SchemeBuilder      runtime.SchemeBuilder
	localSchemeBuilder = &SchemeBuilder
	// AddToScheme adds this package's types to a scheme.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func init() {
	localSchemeBuilder.Register(addKnownTypes, RegisterDefaults)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, append(Stored(), &HierarchyPlan{}, &HierarchyTree{}, &MyNamespace{}, &MyNamespaceList{})...)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// Stored returns an empty object of each stored kind and of its list.
func Stored() []runtime.Object {
	return []runtime.Object{
		&CopyRelease{}, &CopyReleaseList{}, &OverwrittenObject{}, &OverwrittenObjectList{}, &RepositorySync{}, &RepositorySyncList{},
		&TenantView{}, &TenantViewList{}, &ViewDefinition{}, &ViewDefinitionList{},
	}
}

// Resource returns the qualified form of a resource of this group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}
