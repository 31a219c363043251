package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// GroupName is the API group of the hierarchy resources.
const GroupName = "hnc.x-k8s.io"

// SchemeGroupVersion is the group version of this package's types.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha2"}

var (
	// SchemeBuilder collects the functions that add this package's types to a scheme.
	SchemeBuilder      runtime.SchemeBuilder
	localSchemeBuilder = &SchemeBuilder
	// AddToScheme adds this package's types to a scheme.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func init() {
	localSchemeBuilder.Register(addKnownTypes, addFieldLabels, addConversionFuncs)
}

// addKnownTypes registers each type under its own kind and under the kind of the stored object. Conversion from the
// hub picks the kind of the stored object, and GetObjectKind (kind.go) then pins the type's own kind.
func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&HierarchyConfiguration{}, &HierarchyConfigurationList{}, &SubnamespaceAnchor{}, &SubnamespaceAnchorList{},
		&HNCConfiguration{}, &HNCConfigurationList{}, &HierarchicalResourceQuota{}, &HierarchicalResourceQuotaList{})
	for kind, object := range map[string]runtime.Object{
		"Hierarchy":        &HierarchyConfiguration{},
		"HierarchyList":    &HierarchyConfigurationList{},
		"Subnamespace":     &SubnamespaceAnchor{},
		"SubnamespaceList": &SubnamespaceAnchorList{},
	} {
		scheme.AddKnownTypeWithName(SchemeGroupVersion.WithKind(kind), object)
	}
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// addFieldLabels registers the field selectors under this version's kind.
func addFieldLabels(scheme *runtime.Scheme) error {
	return scheme.AddFieldLabelConversionFunc(SchemeGroupVersion.WithKind("HierarchyConfiguration"), v1beta1.HierarchyFieldLabels)
}

// Resource returns the qualified form of a resource of this group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}
