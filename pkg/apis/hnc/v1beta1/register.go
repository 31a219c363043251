package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the hierarchy resources.
const GroupName = "hnc.x-k8s.io"

// SchemeGroupVersion is the group version of this package's types.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta1"}

var (
	// SchemeBuilder collects the functions that add this package's types to a scheme.
	SchemeBuilder      runtime.SchemeBuilder
	localSchemeBuilder = &SchemeBuilder
	// AddToScheme adds this package's types to a scheme.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func init() {
	localSchemeBuilder.Register(addKnownTypes, addFieldLabels, RegisterDefaults)
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Hierarchy{}, &HierarchyList{}, &Subnamespace{}, &SubnamespaceList{},
		&HNCConfiguration{}, &HNCConfigurationList{},
		&HierarchicalResourceQuota{}, &HierarchicalResourceQuotaList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// addFieldLabels registers the field selectors. Without it, spec.parent is rejected with status 400.
func addFieldLabels(scheme *runtime.Scheme) error {
	return scheme.AddFieldLabelConversionFunc(SchemeGroupVersion.WithKind("Hierarchy"), HierarchyFieldLabels)
}

// HierarchyFieldLabels accepts the field selectors of hierarchies.
func HierarchyFieldLabels(label, value string) (string, string, error) {
	if label == fieldParent {
		return label, value, nil
	}
	return runtime.DefaultMetaV1FieldSelectorConversion(label, value)
}

const fieldParent = "spec.parent"

// Resource returns the qualified form of a resource of this group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}
