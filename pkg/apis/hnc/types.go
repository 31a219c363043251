package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Hierarchy is the hub form of v1beta1 Hierarchy and v1alpha2 HierarchyConfiguration; v1beta1 documents the fields.
// Hierarchy places its namespace in a tree of namespaces. There is at most one per namespace, named "hierarchy".
type Hierarchy struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HierarchySpec
	Status HierarchyStatus
}

// HierarchySpec is the place that a namespace shall have in the tree.
type HierarchySpec struct {
	Parent                 string
	AllowCascadingDeletion *bool
	Labels                 []MetaKVP
	Annotations            []MetaKVP
	NamespaceLabels        []MetaKVP
	NamespaceAnnotations   []MetaKVP
	RequiredChildren       []string
	Propagation            []ResourceSpec
}

// MetaKVP is a label or an annotation.
type MetaKVP struct {
	Key   string
	Value string
}

// HierarchyStatus is what the tree looks like from a namespace.
type HierarchyStatus struct {
	Children   []string
	Conditions []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyList is a list of hierarchies.
type HierarchyList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Hierarchy
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Subnamespace asks for a namespace of the same name below the namespace that it is in. The namespace is created for
// it, and deleted with it.
type Subnamespace struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   SubnamespaceSpec
	Status SubnamespaceStatus
}

// SubnamespaceSpec says what a sub-namespace shall look like.
type SubnamespaceSpec struct {
	Labels               []MetaKVP
	Annotations          []MetaKVP
	NamespaceLabels      []MetaKVP
	NamespaceAnnotations []MetaKVP
}

// SubnamespaceState tells in one word what became of a sub-namespace.
type SubnamespaceState string

const (
	// SubnamespaceMissing says that the namespace does not exist (yet).
	SubnamespaceMissing SubnamespaceState = "Missing"
	// SubnamespaceOk says that the namespace exists below this one.
	SubnamespaceOk SubnamespaceState = "Ok"
	// SubnamespaceConflict says that a namespace of that name exists elsewhere.
	SubnamespaceConflict SubnamespaceState = "Conflict"
	// SubnamespaceForbidden says that no namespace of that name may be part of a hierarchy.
	SubnamespaceForbidden SubnamespaceState = "Forbidden"
)

// SubnamespaceStatus tells what became of a sub-namespace.
type SubnamespaceStatus struct {
	State      SubnamespaceState
	Conditions []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceList is a list of sub-namespaces.
type SubnamespaceList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Subnamespace
}
