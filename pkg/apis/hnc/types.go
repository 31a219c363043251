package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Hierarchy is the hub type of v1beta1 Hierarchy and v1alpha2 HierarchyConfiguration; v1beta1 documents the fields.
// It defines the parent of its namespace. There is at most one per namespace, named "hierarchy".
type Hierarchy struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HierarchySpec
	Status HierarchyStatus
}

// HierarchySpec is the desired position of a namespace in the tree.
type HierarchySpec struct {
	Parent                 string
	AllowCascadingDeletion *bool
	Labels                 []MetaKVP
	Annotations            []MetaKVP
	NamespaceLabels        []MetaKVP
	NamespaceAnnotations   []MetaKVP
	RequiredChildren       []string
	AbstractAncestors      []string
	Propagation            []ResourceSpec
}

// MetaKVP is a label or an annotation.
type MetaKVP struct {
	Key   string
	Value string
}

// HierarchyStatus is the observed position of a namespace in the tree.
type HierarchyStatus struct {
	ObservedGeneration int64
	Children           []string
	Conditions         []metav1.Condition
	Problems           []Problem
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyList is a list of Hierarchies.
type HierarchyList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Hierarchy
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Subnamespace requests a child namespace with its name. The namespace is created for it and deleted with it.
type Subnamespace struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   SubnamespaceSpec
	Status SubnamespaceStatus
}

// SubnamespaceSpec is the desired metadata of a sub-namespace.
type SubnamespaceSpec struct {
	Labels               []MetaKVP
	Annotations          []MetaKVP
	NamespaceLabels      []MetaKVP
	NamespaceAnnotations []MetaKVP
}

// SubnamespaceState is the state of a sub-namespace in one word.
type SubnamespaceState string

const (
	// SubnamespaceMissing means that the namespace does not exist.
	SubnamespaceMissing SubnamespaceState = "Missing"
	// SubnamespaceOk means that the namespace exists as a child of this namespace.
	SubnamespaceOk SubnamespaceState = "Ok"
	// SubnamespaceConflict means that a namespace with that name exists elsewhere.
	SubnamespaceConflict SubnamespaceState = "Conflict"
	// SubnamespaceForbidden means that no namespace with that name may be part of a hierarchy.
	SubnamespaceForbidden SubnamespaceState = "Forbidden"
)

// SubnamespaceStatus is the observed state of a sub-namespace.
type SubnamespaceStatus struct {
	ObservedGeneration int64
	State              SubnamespaceState
	Conditions         []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceList is a list of Subnamespaces.
type SubnamespaceList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Subnamespace
}
