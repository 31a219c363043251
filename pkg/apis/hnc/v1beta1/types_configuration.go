package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	Resources []ResourceSpec `json:"resources,omitempty"`
	// creatorRole is the name of a ClusterRole that is bound to the creator of each new sub-namespace, by a
	// RoleBinding in it. Empty means none. Setting it requires permission to bind that role.
	// +optional
	CreatorRole string `json:"creatorRole,omitempty"`
	// onConflict is the default of entries without onConflict, in resources and in spec.propagation of hierarchies:
	// Overwrite or Keep. Defaults to Overwrite. Roles and RoleBindings have no entries and always overwrite.
	// +optional
	// +default="Overwrite"
	OnConflict ConflictPolicy `json:"onConflict,omitempty"`
	// subnamespaceNames restricts the names of new sub-namespaces. If it is not set, users allowed to create
	// subnamespaces in a namespace may choose any free name. Existing sub-namespaces are not affected.
	// +optional
	SubnamespaceNames *SubnamespaceNames `json:"subnamespaceNames,omitempty"`
	// rules determine which namespaces are included in hierarchies, which of their labels and annotations are managed,
	// which objects are not copied, and which metadata copies omit. Both servers apply a change at once. Changing rules
	// requires permission to update all namespaces.
	// +optional
	Rules *Rules `json:"rules,omitempty"`
}

// SubnamespaceNames restricts the names of new sub-namespaces. A name must satisfy every field that is set.
type SubnamespaceNames struct {
	// pattern is a regular expression in RE2 syntax, of at most 1024 characters, that must match the whole name.
	// Empty allows any name.
	// +optional
	Pattern string `json:"pattern,omitempty"`
	// prefix is None or Parent. Parent requires names to start with the name of the parent namespace and a hyphen.
	// Defaults to None.
	// +optional
	// +default="None"
	Prefix NamePrefix `json:"prefix,omitempty"`
}

// NamePrefix is the required prefix of the names of new sub-namespaces.
// +enum
type NamePrefix string

const (
	// NoPrefix requires no prefix.
	NoPrefix NamePrefix = "None"
	// ParentPrefix requires the name of the parent and a hyphen.
	ParentPrefix NamePrefix = "Parent"
)

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

// ConflictPolicy controls local objects with the same name as a source in an ancestor.
// +enum
type ConflictPolicy string

const (
	// Overwrite replaces the local object with a copy.
	Overwrite ConflictPolicy = "Overwrite"
	// Keep keeps the local object and reports it.
	Keep ConflictPolicy = "Keep"
)

// ResourceSpec configures the propagation of a kind.
type ResourceSpec struct {
	// group is the API group of the resource. Empty means any group that has the resource,
	// the core group first.
	// +optional
	// +default=""
	Group string `json:"group,omitempty"`
	// resource is a name of the resource: the plural, as a rule, or the singular or the kind, in any case.
	Resource string `json:"resource"`
	// mode is Propagate, AllowPropagate, Remove or Ignore. Defaults to Propagate.
	// +optional
	Mode SynchronizationMode `json:"mode,omitempty"`
	// onConflict is Overwrite or Keep. It controls an object in a descendant with the same name as one in an
	// ancestor. Defaults to spec.onConflict of the configuration.
	// +optional
	OnConflict ConflictPolicy `json:"onConflict,omitempty"`
}

// HNCConfigurationStatus is the observed state of propagation.
type HNCConfigurationStatus struct {
	// observedGeneration is the generation of the spec that the status describes, and -1 until there is a status.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// resources are the kinds that the configuration affects.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
	// conditions report problems with the configuration. The condition NamespaceCondition reports namespaces with
	// conditions; its reason is the type of these. Ready summarizes the other conditions. A condition with the reason
	// MultipleProblems counts the problems of its type, which are listed in problems.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// problems are the single problems of conditions with the reason MultipleProblems.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +listMapKey=reason
	Problems []Problem `json:"problems,omitempty"`
	// checkpoint identifies the cluster to which the hierarchies belong, and their state. It is absent until
	// hns-propagator has recorded it.
	// +optional
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
}

// Checkpoint identifies a state of the hierarchies that was propagated. hns-propagator records it here and in the
// cluster; they differ after one of both was restored.
type Checkpoint struct {
	// cluster is the UID of the namespace kube-system.
	Cluster types.UID `json:"cluster"`
	// id is a number that grows, and a random suffix.
	ID string `json:"id"`
}

// Rules determine which namespaces are included in hierarchies, which of their labels and annotations are managed,
// which objects are not copied, and which metadata copies omit.
type Rules struct {
	// excludedNamespaces are the names of namespaces that cannot be part of a hierarchy. Defaults to kube-system,
	// kube-public, kube-node-lease, hnc-system and hns-system.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	ExcludedNamespaces []string `json:"excludedNamespaces,omitempty"`
	// includedNamespaceRegex is a regular expression that must match the whole names of namespaces in hierarchies.
	// Empty matches all.
	// +optional
	IncludedNamespaceRegex string `json:"includedNamespaceRegex,omitempty"`
	// excludedNamespaceSelector selects namespaces that cannot be part of a hierarchy by their labels. Without it, none
	// are excluded by labels.
	// +optional
	ExcludedNamespaceSelector *metav1.LabelSelector `json:"excludedNamespaceSelector,omitempty"`
	// managedNamespaceLabels are regular expressions of the keys of labels that hierarchies set on namespaces.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	ManagedNamespaceLabels []string `json:"managedNamespaceLabels,omitempty"`
	// managedNamespaceAnnotations are regular expressions of the keys of annotations that hierarchies set on
	// namespaces.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	ManagedNamespaceAnnotations []string `json:"managedNamespaceAnnotations,omitempty"`
	// skippedObjects select objects that are not copied by their labels. One that any of them selects is skipped,
	// unless a RepositorySync has applied it.
	// Defaults to cattle.io/creator: norman, which Rancher sets on the objects that it creates in each namespace.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	SkippedObjects []metav1.LabelSelector `json:"skippedObjects,omitempty"`
	// droppedLabels are the keys of labels that copies omit.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	DroppedLabels []string `json:"droppedLabels,omitempty"`
	// droppedAnnotations are the keys of annotations that copies omit.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	DroppedAnnotations []string `json:"droppedAnnotations,omitempty"`
	// stripTrackingMetadata reports whether copies omit the metadata with which tools track applied objects. Defaults to
	// true.
	// +optional
	// +default=true
	StripTrackingMetadata *bool `json:"stripTrackingMetadata,omitempty"`
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
