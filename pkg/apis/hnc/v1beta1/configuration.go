package v1beta1

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
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	Resources []ResourceSpec `json:"resources,omitempty"`
	// creatorRole is the name of a ClusterRole that who creates a sub-namespace gets in it, by a RoleBinding there. Empty for none.
	// Setting it takes the right to bind that role.
	// +optional
	CreatorRole string `json:"creatorRole,omitempty"`
	// onConflict is the onConflict of entries that have none, both in resources and in spec.propagation of hierarchies:
	// Overwrite (which is meant by an empty one) or Keep. Roles and RoleBindings, which have no entries, always overwrite.
	// +optional
	OnConflict ConflictPolicy `json:"onConflict,omitempty"`
	// subnamespaceNames restricts the names of new sub-namespaces. Without it, everybody who may create subnamespaces in a
	// namespace may take any name that is free. Sub-namespaces that exist already are not affected.
	// +optional
	SubnamespaceNames *SubnamespaceNames `json:"subnamespaceNames,omitempty"`
}

// SubnamespaceNames restricts the names of new sub-namespaces. A name must satisfy all that is set.
type SubnamespaceNames struct {
	// pattern is a regular expression in RE2 syntax that matches the whole name, of at most 1024 characters. Empty for any name.
	// +optional
	Pattern string `json:"pattern,omitempty"`
	// prefix is None (which is meant by an empty one), or Parent: the name starts with the name of the parent namespace and
	// a hyphen.
	// +optional
	Prefix NamePrefix `json:"prefix,omitempty"`
}

// NamePrefix says what the names of new sub-namespaces start with.
// +enum
type NamePrefix string

const (
	// NoPrefix allows any name.
	NoPrefix NamePrefix = "None"
	// ParentPrefix requires the name of the parent and a hyphen.
	ParentPrefix NamePrefix = "Parent"
)

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

// ConflictPolicy says what becomes of a local object when an ancestor has a source of its name.
// +enum
type ConflictPolicy string

const (
	// Overwrite replaces the local object: what is set above is true below.
	Overwrite ConflictPolicy = "Overwrite"
	// Keep leaves the local object alone, and reports it.
	Keep ConflictPolicy = "Keep"
)

// ResourceSpec says how objects of a kind flow down the tree.
type ResourceSpec struct {
	// group is the API group of the resource, empty for the core group.
	// +optional
	// +default=""
	Group string `json:"group,omitempty"`
	// resource is the resource's plural name.
	Resource string `json:"resource"`
	// mode is Propagate (which is meant by an empty one), AllowPropagate, Remove or Ignore.
	// +optional
	Mode SynchronizationMode `json:"mode,omitempty"`
	// onConflict is Overwrite (which is meant by an empty one) or Keep: what becomes of an object in a descendant when
	// an ancestor has one of the same name.
	// +optional
	OnConflict ConflictPolicy `json:"onConflict,omitempty"`
}

// HNCConfigurationStatus tells what is propagated.
type HNCConfigurationStatus struct {
	// resources are the kinds that are acted upon.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
	// conditions tell what is wrong with the configuration, and which namespaces have conditions: those are of the type
	// NamespaceCondition, one for each type of the namespaces' conditions, which is its reason. Ready sums up the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +listMapKey=reason
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// inForce are the rules that each server acts by. They must be the same; a condition says so if they are not.
	// +optional
	InForce InForce `json:"inForce,omitempty,omitzero"`
}

// InForce are the rules that each server acts by.
type InForce struct {
	// apiServer are those of hnc-apiserver; if several replicas run, of the one that started last.
	// +optional
	APIServer *Rules `json:"apiServer,omitempty"`
	// propagator are those of hnc-propagator.
	// +optional
	Propagator *Rules `json:"propagator,omitempty"`
}

// Rules say which namespaces take part in hierarchies, which of their labels and annotations are managed, what is not
// copied, and what copies leave out. The servers take them from flags of the same names.
type Rules struct {
	// excludedNamespaces are the names of namespaces that can't be part of a hierarchy.
	// +optional
	// +listType=atomic
	ExcludedNamespaces []string `json:"excludedNamespaces,omitempty"`
	// includedNamespaceRegex is a regular expression that matches the whole names of those that can. Empty matches all.
	// +optional
	IncludedNamespaceRegex string `json:"includedNamespaceRegex,omitempty"`
	// excludedNamespaceSelector selects namespaces that can't be part of a hierarchy by their labels. Empty selects none.
	// +optional
	ExcludedNamespaceSelector string `json:"excludedNamespaceSelector,omitempty"`
	// managedNamespaceLabels are regular expressions of the keys of labels that hierarchies set on namespaces.
	// +optional
	// +listType=atomic
	ManagedNamespaceLabels []string `json:"managedNamespaceLabels,omitempty"`
	// managedNamespaceAnnotations are regular expressions of the keys of annotations that hierarchies set on namespaces.
	// +optional
	// +listType=atomic
	ManagedNamespaceAnnotations []string `json:"managedNamespaceAnnotations,omitempty"`
	// noPropagationLabels are labels (key=value) of objects that are not copied.
	// +optional
	// +listType=atomic
	NoPropagationLabels []string `json:"noPropagationLabels,omitempty"`
	// unpropagatedLabels are keys of labels that copies leave out.
	// +optional
	// +listType=atomic
	UnpropagatedLabels []string `json:"unpropagatedLabels,omitempty"`
	// unpropagatedAnnotations are keys of annotations that copies leave out.
	// +optional
	// +listType=atomic
	UnpropagatedAnnotations []string `json:"unpropagatedAnnotations,omitempty"`
	// stripTrackingMetadata says whether copies leave out the metadata by which tools track what they have applied.
	// +optional
	StripTrackingMetadata *bool `json:"stripTrackingMetadata,omitempty"`
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
