package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ViewDefinition is a CustomResourceDefinition that the view of its namespace has for itself. Its name is that of the
// CustomResourceDefinition in the view. In the cluster, its group has a suffix that no other view has.
type ViewDefinition struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is that of a CustomResourceDefinition of apiextensions.k8s.io/v1. Its scope is Namespaced, and its
	// conversion has no webhook.
	Spec runtime.RawExtension `json:"spec"`
	// status is that of the CustomResourceDefinition in the cluster. It is set by the propagator.
	// +optional
	Status ViewDefinitionStatus `json:"status,omitempty"`
}

// ViewDefinitionStatus is the status of the CustomResourceDefinition in the cluster.
type ViewDefinitionStatus struct {
	// observedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions contains those of the CustomResourceDefinition, such as Established, and Ready, which is True if its
	// custom resources can be used.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// acceptedNames are the names that are served.
	// +optional
	AcceptedNames ViewDefinitionNames `json:"acceptedNames,omitempty"`
	// storedVersions are the versions in which custom resources have been stored.
	// +optional
	// +listType=atomic
	StoredVersions []string `json:"storedVersions,omitempty"`
}

// ViewDefinitionNames are the names of a kind.
type ViewDefinitionNames struct {
	// plural is the name of the resource.
	// +optional
	Plural string `json:"plural,omitempty"`
	// singular is its singular name.
	// +optional
	Singular string `json:"singular,omitempty"`
	// shortNames are its short names.
	// +optional
	// +listType=atomic
	ShortNames []string `json:"shortNames,omitempty"`
	// kind is the kind of the objects.
	// +optional
	Kind string `json:"kind,omitempty"`
	// listKind is the kind of their list.
	// +optional
	ListKind string `json:"listKind,omitempty"`
	// categories are the groups of resources that it belongs to.
	// +optional
	// +listType=atomic
	Categories []string `json:"categories,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ViewDefinitionList is a list of ViewDefinitions.
type ViewDefinitionList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of ViewDefinitions.
	Items []ViewDefinition `json:"items"`
}
