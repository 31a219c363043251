package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfiguration says what is propagated in the cluster. There is one, named "config"; it is created by the server.
type HNCConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name must be "config".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is propagated.
	// +optional
	Spec HNCConfigurationSpec `json:"spec,omitempty"`
	// status tells what is propagated. It is written by the propagator.
	// +optional
	Status HNCConfigurationStatus `json:"status,omitempty"`
}

// HNCConfigurationSpec says what is propagated.
type HNCConfigurationSpec struct {
	// resources are the propagated kinds besides Roles and RoleBindings, which always are.
	// +optional
	// +listType=atomic
	Resources []ResourceSpec `json:"resources,omitempty"`
}

// SynchronizationMode says how objects of a kind flow down the tree.
// +enum
type SynchronizationMode string

const (
	// Propagate copies all objects to all descendants, but for exceptions.
	Propagate SynchronizationMode = "Propagate"
	// AllowPropagate copies only the objects that ask for it by an annotation.
	AllowPropagate SynchronizationMode = "AllowPropagate"
	// Remove deletes all copies, and makes no new ones.
	Remove SynchronizationMode = "Remove"
	// Ignore leaves the copies that exist as they are, and makes no new ones.
	Ignore SynchronizationMode = "Ignore"
)

// ResourceSpec says how objects of a kind flow down the tree.
type ResourceSpec struct {
	// group is the API group of the resource, empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the resource's plural name.
	Resource string `json:"resource"`
	// mode is Propagate (which is meant by an empty one), AllowPropagate, Remove or Ignore.
	// +optional
	Mode SynchronizationMode `json:"mode,omitempty"`
}

// HNCConfigurationStatus tells what is propagated.
type HNCConfigurationStatus struct {
	// resources are the kinds that are acted upon.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
	// conditions tell what is wrong with the configuration, and how many namespaces have conditions.
	// +optional
	// +listType=atomic
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ResourceStatus tells what is done for a kind.
type ResourceStatus struct {
	// group is the API group of the resource, empty for the core group.
	Group string `json:"group"`
	// version is the version in which the objects are read and written.
	Version string `json:"version"`
	// resource is the resource's plural name.
	Resource string `json:"resource"`
	// mode is what is done.
	// +optional
	Mode SynchronizationMode `json:"mode,omitempty"`
	// numPropagatedObjects is the number of copies.
	// +optional
	NumPropagatedObjects *int32 `json:"numPropagatedObjects,omitempty"`
	// numSourceObjects is the number of objects that are no copies.
	// +optional
	NumSourceObjects *int32 `json:"numSourceObjects,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfigurationList is a list of configurations.
type HNCConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the configurations.
	Items []HNCConfiguration `json:"items"`
}
