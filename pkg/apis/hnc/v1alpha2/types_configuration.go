package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfiguration configures propagation in the cluster. There is exactly one, named "config", created by the
// server.
type HNCConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name must be "config".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired configuration.
	// +optional
	Spec HNCConfigurationSpec `json:"spec,omitempty"`
	// status is the observed state of propagation. It is set by the propagator.
	// +optional
	Status HNCConfigurationStatus `json:"status,omitempty"`
}

// HNCConfigurationSpec is the desired configuration.
type HNCConfigurationSpec struct {
	// resources are the propagated kinds in addition to Roles and RoleBindings, which are always propagated.
	// +optional
	// +listType=atomic
	Resources []ResourceSpec `json:"resources,omitempty"`
}

// SynchronizationMode controls the propagation of a kind.
// +enum
type SynchronizationMode string

const (
	// Propagate copies all objects to all descendants, except for exceptions.
	Propagate SynchronizationMode = "Propagate"
	// AllowPropagate copies only objects with an annotation that requests it.
	AllowPropagate SynchronizationMode = "AllowPropagate"
	// Remove deletes all copies and creates no new ones.
	Remove SynchronizationMode = "Remove"
	// Ignore keeps existing copies unchanged and creates no new ones.
	Ignore SynchronizationMode = "Ignore"
)

// ResourceSpec configures the propagation of a kind.
type ResourceSpec struct {
	// group is the API group of the resource. Empty means the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the plural name of the resource.
	Resource string `json:"resource"`
	// mode is Propagate, AllowPropagate, Remove or Ignore. Defaults to Propagate.
	// +optional
	Mode SynchronizationMode `json:"mode,omitempty"`
}

// HNCConfigurationStatus is the observed state of propagation.
type HNCConfigurationStatus struct {
	// resources are the kinds that the configuration affects.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
	// conditions report problems with the configuration, and the number of namespaces with conditions.
	// +optional
	// +listType=atomic
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ResourceStatus is the observed propagation of a kind.
type ResourceStatus struct {
	// group is the API group of the resource. Empty means the core group.
	Group string `json:"group"`
	// version is the version in which objects are read and written.
	Version string `json:"version"`
	// resource is the plural name of the resource.
	Resource string `json:"resource"`
	// mode is the mode in effect.
	// +optional
	Mode SynchronizationMode `json:"mode,omitempty"`
	// numPropagatedObjects is the number of copies.
	// +optional
	NumPropagatedObjects *int32 `json:"numPropagatedObjects,omitempty"`
	// numSourceObjects is the number of objects that are not copies.
	// +optional
	NumSourceObjects *int32 `json:"numSourceObjects,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfigurationList is a list of HNCConfigurations.
type HNCConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of HNCConfigurations.
	Items []HNCConfiguration `json:"items"`
}
