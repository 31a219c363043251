package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfiguration says what is propagated in the cluster. There is one, named "config"; it is created by the server.
type HNCConfiguration struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HNCConfigurationSpec
	Status HNCConfigurationStatus
}

// HNCConfigurationSpec says what is propagated.
type HNCConfigurationSpec struct {
	Resources   []ResourceSpec
	CreatorRole string
	// OnConflict is the policy of entries without one, in Resources and in hierarchies. Empty means Overwrite.
	OnConflict ConflictPolicy
	// SubnamespaceNames restricts the names of new sub-namespaces; nil allows any.
	SubnamespaceNames *SubnamespaceNames
}

// SubnamespaceNames restricts the names of new sub-namespaces. A name must satisfy all that is set.
type SubnamespaceNames struct {
	// Pattern is a regular expression (RE2) that matches the whole name; empty for any.
	Pattern string
	// Prefix is what a name starts with.
	Prefix NamePrefix
}

// NamePrefix says what the names of new sub-namespaces start with.
type NamePrefix string

const (
	// NoPrefix allows any name. The empty value means the same.
	NoPrefix NamePrefix = "None"
	// ParentPrefix requires the name of the parent and a hyphen.
	ParentPrefix NamePrefix = "Parent"
)

// SynchronizationMode says how objects of a kind flow down the tree.
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
type ConflictPolicy string

const (
	// Overwrite replaces the local object: what is set above is true below.
	Overwrite ConflictPolicy = "Overwrite"
	// Keep leaves the local object alone, and reports it.
	Keep ConflictPolicy = "Keep"
)

// ResourceSpec says how objects of a kind flow down the tree.
type ResourceSpec struct {
	Group      string
	Resource   string
	Mode       SynchronizationMode
	OnConflict ConflictPolicy
}

// HNCConfigurationStatus tells what is propagated.
type HNCConfigurationStatus struct {
	Resources  []ResourceStatus
	Conditions []metav1.Condition
	// InForce are the rules that each server acts by.
	InForce InForce
}

// InForce are the rules that each server acts by; nil where a server has not reported them yet.
type InForce struct {
	APIServer  *Rules
	Propagator *Rules
}

// Rules say which namespaces take part in hierarchies, which of their labels and annotations are managed, what is not
// copied, and what copies leave out. The servers take them from flags of the same names.
type Rules struct {
	ExcludedNamespaces          []string
	IncludedNamespaceRegex      string
	ExcludedNamespaceSelector   string
	ManagedNamespaceLabels      []string
	ManagedNamespaceAnnotations []string
	NoPropagationLabels         []string
	UnpropagatedLabels          []string
	UnpropagatedAnnotations     []string
	StripTrackingMetadata       *bool
}

// ResourceStatus tells what is done for a kind.
type ResourceStatus struct {
	Group                string
	Version              string
	Resource             string
	Mode                 SynchronizationMode
	NumPropagatedObjects *int32
	NumSourceObjects     *int32
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HNCConfigurationList is a list of configurations.
type HNCConfigurationList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []HNCConfiguration
}
