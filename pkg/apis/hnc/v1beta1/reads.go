package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NamespaceKind says what a namespace is to its tree.
// +enum
type NamespaceKind string

const (
	// NamespaceFull is a namespace that was made by itself.
	NamespaceFull NamespaceKind = "Full"
	// NamespaceSubnamespace is a namespace that was made for a Subnamespace of its parent.
	NamespaceSubnamespace NamespaceKind = "Subnamespace"
	// NamespaceExternal is a namespace that somebody else manages.
	NamespaceExternal NamespaceKind = "External"
	// NamespaceMissing is a namespace that has a place in the tree and does not exist (yet, or any more).
	NamespaceMissing NamespaceKind = "Missing"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyTree is a namespace with all its descendants, in one answer: what GET hierarchies/tree returns. A namespace
// without a Hierarchy has a tree too, of itself at least. Who may get the tree of a namespace sees the names and the
// conditions of all its descendants, whatever else they may see there.
type HierarchyTree struct {
	metav1.TypeMeta `json:",inline"`
	// The name is "hierarchy", the namespace is the one at the top.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// nodes are the namespace itself and its descendants, depth first: each before its children, siblings by name.
	// +listType=atomic
	Nodes []HierarchyTreeNode `json:"nodes"`
}

// HierarchyTreeNode is a namespace in a HierarchyTree.
type HierarchyTreeNode struct {
	// name is the name of the namespace.
	Name string `json:"name"`
	// parent is the name of its parent, which for the first node is not part of this tree. Empty for a root.
	// +optional
	Parent string `json:"parent,omitempty"`
	// depth is the distance from the first node, whose depth is 0.
	Depth int32 `json:"depth"`
	// kind is Full, Subnamespace, External or Missing.
	Kind NamespaceKind `json:"kind"`
	// allowCascadingDeletion is what the namespace's own Hierarchy says. What an ancestor's says holds for it too.
	// +optional
	AllowCascadingDeletion bool `json:"allowCascadingDeletion,omitempty"`
	// conditions tell what is wrong with the namespace's place in the tree; none if it is as it should be.
	// +optional
	// +listType=atomic
	Conditions []HierarchyTreeCondition `json:"conditions,omitempty"`
}

// HierarchyTreeCondition is a condition of a namespace in a HierarchyTree. The Hierarchy of the namespace tells more of it.
type HierarchyTreeCondition struct {
	// type is the type of the condition.
	Type string `json:"type"`
	// status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// reason tells in one word why.
	Reason string `json:"reason"`
	// message tells what to do.
	// +optional
	Message string `json:"message,omitempty"`
}

// +genclient
// +genclient:nonNamespaced
// +genclient:onlyVerbs=get,list,watch
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MyNamespace is a namespace that the requester may see: one whose Namespace the requester is allowed to get by RBAC.
// Everybody may list and watch them. They are computed and can't be written.
type MyNamespace struct {
	metav1.TypeMeta `json:",inline"`
	// Name, UID, labels, and times of creation and deletion are those of the Namespace. The resourceVersion is not: it is
	// one replica's, and only good for watching further.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is what the namespace is, and its place in the tree.
	// +optional
	Status MyNamespaceStatus `json:"status,omitempty"`
}

// MyNamespaceStatus is what a namespace is, and its place in the tree, as its tree labels say.
type MyNamespaceStatus struct {
	// phase is Active or Terminating.
	// +optional
	Phase string `json:"phase,omitempty"`
	// kind is Full, Subnamespace or External.
	// +optional
	Kind NamespaceKind `json:"kind,omitempty"`
	// parent is the name of the parent, empty for a root.
	// +optional
	Parent string `json:"parent,omitempty"`
	// root is the name of the root of the tree, which may be the namespace itself.
	// +optional
	Root string `json:"root,omitempty"`
	// depth is the distance from the root.
	Depth int32 `json:"depth"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MyNamespaceList is a list of the namespaces that the requester may see.
type MyNamespaceList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the namespaces, by name.
	Items []MyNamespace `json:"items"`
}
