package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NamespaceKind is the kind of a namespace in its tree.
// +enum
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

// HierarchyTree is a namespace with all its descendants, as returned by GET hierarchies/tree. A namespace without a
// Hierarchy has a tree too. Users allowed to get the tree of a namespace see the names and conditions of all its
// descendants, regardless of their permissions there.
type HierarchyTree struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name is "hierarchy", the namespace is the root of this tree.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// nodes are the namespace and its descendants, depth first: parents before their children, siblings sorted by
	// name.
	// +listType=atomic
	Nodes []HierarchyTreeNode `json:"nodes"`
}

// HierarchyTreeNode is a namespace in a HierarchyTree.
type HierarchyTreeNode struct {
	// name is the name of the namespace.
	Name string `json:"name"`
	// parent is the name of the parent. The parent of the first node is not part of this tree. Empty for a root.
	// +optional
	Parent string `json:"parent,omitempty"`
	// depth is the distance from the first node.
	Depth int32 `json:"depth"`
	// kind is Full, Subnamespace, External or Missing.
	Kind NamespaceKind `json:"kind"`
	// terminating is true while the namespace is being deleted.
	// +optional
	Terminating bool `json:"terminating,omitempty"`
	// allowCascadingDeletion is the value in the namespace's own Hierarchy. The value of an ancestor applies as well.
	// +optional
	AllowCascadingDeletion bool `json:"allowCascadingDeletion,omitempty"`
	// abstractAncestors are the names above a root that are not namespaces, the nearest first.
	// +optional
	// +listType=atomic
	AbstractAncestors []string `json:"abstractAncestors,omitempty"`
	// conditions report problems with the namespace's position in the tree.
	// +optional
	// +listType=atomic
	Conditions []HierarchyTreeCondition `json:"conditions,omitempty"`
}

// HierarchyTreeCondition is a condition of a namespace in a HierarchyTree. The Hierarchy of the namespace has the
// details.
type HierarchyTreeCondition struct {
	// type is the type of the condition.
	Type string `json:"type"`
	// status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// reason is the reason of the condition in one word.
	Reason string `json:"reason"`
	// message describes the problem and how to solve it.
	// +optional
	Message string `json:"message,omitempty"`
}
