package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfiguration configures propagation in the cluster. There is exactly one, named "config", created by the
// server.
type HNCConfiguration struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HNCConfigurationSpec
	Status HNCConfigurationStatus
}

// HNCConfigurationSpec configures propagation.
type HNCConfigurationSpec struct {
	Resources   []ResourceSpec
	CreatorRole string
	// OnConflict is the default of entries without a policy, in Resources and in hierarchies.
	OnConflict ConflictPolicy
	// SubnamespaceNames restricts the names of new sub-namespaces; nil allows any.
	SubnamespaceNames *SubnamespaceNames
	// Rules are nil in what a client has written in v1alpha2, which has none.
	Rules *Rules
}

// SubnamespaceNames restricts the names of new sub-namespaces. A name must satisfy every field that is set.
type SubnamespaceNames struct {
	// Pattern is a regular expression (RE2) that must match the whole name; empty allows any.
	Pattern string
	// Prefix is the required prefix of names.
	Prefix NamePrefix
}

// NamePrefix is the required prefix of the names of new sub-namespaces.
type NamePrefix string

const (
	// NoPrefix requires no prefix.
	NoPrefix NamePrefix = "None"
	// ParentPrefix requires the name of the parent and a hyphen.
	ParentPrefix NamePrefix = "Parent"
)

// SynchronizationMode controls the propagation of a kind.
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
type ConflictPolicy string

const (
	// Overwrite replaces the local object with a copy.
	Overwrite ConflictPolicy = "Overwrite"
	// Keep keeps the local object and reports it.
	Keep ConflictPolicy = "Keep"
)

// ResourceSpec configures the propagation of a kind.
type ResourceSpec struct {
	Group      string
	Resource   string
	Mode       SynchronizationMode
	OnConflict ConflictPolicy
}

// HNCConfigurationStatus is the observed state of propagation.
type HNCConfigurationStatus struct {
	ObservedGeneration int64
	Resources          []ResourceStatus
	Conditions         []metav1.Condition
	Problems           []Problem
	// Checkpoint identifies the cluster to which the hierarchies belong, and their state. Nil until the propagator has
	// recorded it.
	Checkpoint *Checkpoint
}

// Checkpoint identifies a state of the hierarchies that was propagated. The propagator records it here and in the
// cluster; they differ after one of both was restored.
type Checkpoint struct {
	// Cluster is the UID of the namespace kube-system.
	Cluster types.UID
	// ID is a number that grows, and a random suffix.
	ID string
}

// Rules determine which namespaces are included in hierarchies, which of their labels and annotations are managed,
// which objects are not copied, and which metadata copies omit.
type Rules struct {
	ExcludedNamespaces          []string
	IncludedNamespaceRegex      string
	ExcludedNamespaceSelector   *metav1.LabelSelector
	ManagedNamespaceLabels      []string
	ManagedNamespaceAnnotations []string
	SkippedObjects              []metav1.LabelSelector
	DroppedLabels               []string
	DroppedAnnotations          []string
	StripTrackingMetadata       *bool
}

// ResourceStatus is the observed propagation of a kind.
type ResourceStatus struct {
	Group                string
	Version              string
	Resource             string
	Mode                 SynchronizationMode
	NumPropagatedObjects *int32
	NumSourceObjects     *int32
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfigurationList is a list of HNCConfigurations.
type HNCConfigurationList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []HNCConfiguration
}
