package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:method=GetTree,verb=get,subresource=tree,result=HierarchyTree
// +genclient:method=Plan,verb=create,subresource=plan,input=github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1.HierarchyPlan,result=github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1.HierarchyPlan
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Hierarchy places its namespace in a tree of namespaces. There is at most one per namespace, named "hierarchy".
type Hierarchy struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name must be "hierarchy".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the place that the namespace shall have in the tree.
	// +optional
	Spec HierarchySpec `json:"spec,omitempty"`
	// status is what the tree looks like from this namespace. It is written by the propagator.
	// +optional
	Status HierarchyStatus `json:"status,omitempty"`
}

// HierarchySpec is the place that a namespace shall have in the tree.
type HierarchySpec struct {
	// parent is the name of the parent namespace. Empty makes the namespace the root of its tree. A change is checked
	// against the whole chain of ancestors when it is committed, so a cycle is impossible; the requester must be able
	// to update hierarchies in the root that the namespace leaves (within one tree: in the most recent common ancestor)
	// and in the new parent. Rules about the subtree below the namespace, such as its height, are checked when the
	// request arrives only, and reported by conditions afterwards. The parent of a sub-namespace can't be changed.
	// +optional
	Parent string `json:"parent,omitempty"`
	// allowCascadingDeletion allows that the sub-namespaces of this namespace and of its descendants are deleted
	// together with it. Full namespaces are never deleted that way.
	// +optional
	AllowCascadingDeletion *bool `json:"allowCascadingDeletion,omitempty"`
	// labels are set on this namespace and on all its descendants.
	// +optional
	// +listType=map
	// +listMapKey=key
	Labels []MetaKVP `json:"labels,omitempty"`
	// annotations are set on this namespace and on all its descendants.
	// +optional
	// +listType=map
	// +listMapKey=key
	Annotations []MetaKVP `json:"annotations,omitempty"`
	// namespaceLabels are set on this namespace only, and not on its descendants. They take the place of labels there.
	// What an ancestor's labels say wins over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceLabels []MetaKVP `json:"namespaceLabels,omitempty"`
	// namespaceAnnotations are set on this namespace only, and not on its descendants. They take the place of annotations
	// there. What an ancestor's annotations say wins over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceAnnotations []MetaKVP `json:"namespaceAnnotations,omitempty"`
	// requiredChildren are the names of sub-namespaces that this namespace shall have. A Subnamespace is created for each that is
	// missing; naming one takes the right to create it. One that is not named any more stays until it is deleted, and its condition
	// Required tells so.
	// +optional
	// +listType=set
	RequiredChildren []string `json:"requiredChildren,omitempty"`
	// propagation says how objects in this namespace and in its descendants flow down the tree from there, for kinds that shall be
	// treated otherwise than the cluster's configuration says; for each source, the entry of the nearest namespace upward from it
	// holds. A change takes the right to update hierarchies/propagation in the root of the tree.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	Propagation []ResourceSpec `json:"propagation,omitempty"`
}

// MetaKVP is a label or an annotation.
type MetaKVP struct {
	// key is the name of the label or annotation.
	Key string `json:"key"`
	// value is the value of the label or annotation.
	Value string `json:"value"`
}

// HierarchyStatus is what the tree looks like from a namespace.
type HierarchyStatus struct {
	// children are the names of the namespaces whose parent is this namespace, sorted.
	// +optional
	// +listType=atomic
	Children []string `json:"children,omitempty"`
	// conditions tell what is wrong with the namespace's place in the tree. Ready sums up the others, of which there may be
	// several of one type, with different reasons.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +listMapKey=reason
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyList is a list of hierarchies.
type HierarchyList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the hierarchies.
	Items []Hierarchy `json:"items"`
}

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Subnamespace asks for a namespace of the same name below the namespace that it is in. The namespace is created for
// it, and deleted with it.
type Subnamespace struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name is the name of the sub-namespace, the namespace is its parent.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what the sub-namespace shall look like.
	// +optional
	Spec SubnamespaceSpec `json:"spec,omitempty"`
	// status tells what became of it. It is written by the propagator.
	// +optional
	Status SubnamespaceStatus `json:"status,omitempty"`
}

// SubnamespaceSpec says what a sub-namespace shall look like.
type SubnamespaceSpec struct {
	// labels are set on the sub-namespace and on all its descendants.
	// +optional
	// +listType=map
	// +listMapKey=key
	Labels []MetaKVP `json:"labels,omitempty"`
	// annotations are set on the sub-namespace and on all its descendants.
	// +optional
	// +listType=map
	// +listMapKey=key
	Annotations []MetaKVP `json:"annotations,omitempty"`
	// namespaceLabels are set on the sub-namespace only, and not on its descendants. They take the place of labels there.
	// What an ancestor's labels say wins over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceLabels []MetaKVP `json:"namespaceLabels,omitempty"`
	// namespaceAnnotations are set on the sub-namespace only, and not on its descendants. They take the place of annotations
	// there. What an ancestor's annotations say wins over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceAnnotations []MetaKVP `json:"namespaceAnnotations,omitempty"`
}

// SubnamespaceState tells in one word what became of a sub-namespace.
// +enum
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
	// state is Missing, Ok, Conflict or Forbidden.
	// +optional
	State SubnamespaceState `json:"state,omitempty"`
	// conditions tell more: Ready is true when the namespace can be used, with all that it inherits.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceList is a list of sub-namespaces.
type SubnamespaceList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the sub-namespaces.
	Items []Subnamespace `json:"items"`
}
