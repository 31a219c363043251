package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NamespaceKind is the kind of a namespace in its tree; v1beta1 documents the kinds.
type NamespaceKind string

const (
	// NamespaceFull is a namespace that was created directly.
	NamespaceFull NamespaceKind = "Full"
	// NamespaceSubnamespace is a namespace that was created for a Subnamespace in its parent.
	NamespaceSubnamespace NamespaceKind = "Subnamespace"
	// NamespaceExternal is a namespace that another tool manages.
	NamespaceExternal NamespaceKind = "External"
	// NamespaceMissing is a namespace in the tree that does not exist.
	NamespaceMissing NamespaceKind = "Missing"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyTree is a namespace with all its descendants; v1beta1 documents the fields.
type HierarchyTree struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Nodes []HierarchyTreeNode
}

// HierarchyTreeNode is a namespace in a HierarchyTree.
type HierarchyTreeNode struct {
	Name                   string
	Parent                 string
	Depth                  int32
	Kind                   NamespaceKind
	Terminating            bool
	AllowCascadingDeletion bool
	AbstractAncestors      []string
	Conditions             []HierarchyTreeCondition
}

// HierarchyTreeCondition is a condition of a namespace in a HierarchyTree.
type HierarchyTreeCondition struct {
	Type    string
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}
