package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:method=GetTree,verb=get,subresource=tree,result=github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3.HierarchyTree
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Hierarchy defines the parent of its namespace. There is at most one per namespace, named "hierarchy".
type Hierarchy struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name must be "hierarchy".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired position of the namespace in the tree.
	// +optional
	Spec HierarchySpec `json:"spec,omitempty"`
	// status is the observed position of the namespace in the tree. It is set by the propagator.
	// +optional
	Status HierarchyStatus `json:"status,omitempty"`
}

// HierarchySpec is the desired position of a namespace in the tree.
type HierarchySpec struct {
	// parent is the name of the parent namespace. Empty makes the namespace the root of its tree. A change is
	// validated against all ancestors when it is committed, so a cycle is impossible. Users need permission to update
	// hierarchies in the new parent and in the root of the old tree (within one tree: in the most recent common
	// ancestor). The height of the subtree of the namespace is validated when the request arrives, so writes at the same
	// time can exceed it by a few levels. The parent of a sub-namespace cannot be changed.
	// +optional
	Parent string `json:"parent,omitempty"`
	// allowCascadingDeletion allows the deletion of sub-namespaces of this namespace and its descendants along with
	// their parent. Full namespaces are never deleted that way.
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
	// namespaceLabels are set on this namespace, but not on its descendants. They override labels. Labels of
	// ancestors take precedence over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceLabels []MetaKVP `json:"namespaceLabels,omitempty"`
	// namespaceAnnotations are set on this namespace, but not on its descendants. They override annotations.
	// Annotations of ancestors take precedence over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceAnnotations []MetaKVP `json:"namespaceAnnotations,omitempty"`
	// requiredChildren are the names of the required sub-namespaces of this namespace. A Subnamespace is created for
	// each missing one. Adding a name requires permission to create that Subnamespace. A Subnamespace that is not
	// required any more remains until it is deleted; its condition Required reports that.
	// +optional
	// +listType=set
	RequiredChildren []string `json:"requiredChildren,omitempty"`
	// abstractAncestors are names above this namespace that are not namespaces, the nearest first, such as directories of
	// a repository. This namespace and all its descendants have a tree label for each, with the distance to it. They are
	// DNS labels, at most 100, and only a namespace without a parent can have them. A name that is also the name of
	// an existing namespace is rejected unless the annotation hnc.x-k8s.io/allow-shared-names of this object is "true".
	// A change requires permission to update hierarchies/abstract in the whole cluster, because policies anywhere select
	// namespaces by these labels.
	// +optional
	// +listType=atomic
	AbstractAncestors []string `json:"abstractAncestors,omitempty"`
	// propagation overrides the cluster's configuration for objects in this namespace and its descendants. For each
	// source, the entry of the nearest ancestor applies, the source's own namespace first. A change requires
	// permission to update hierarchies/propagation in the root of the tree.
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

// HierarchyStatus is the observed position of a namespace in the tree.
type HierarchyStatus struct {
	// observedGeneration is the generation of the spec that the status describes, and -1 until there is a status.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// children are the names of the namespace's children, sorted.
	// +optional
	// +listType=atomic
	Children []string `json:"children,omitempty"`
	// childCount is the number of children. It follows from children; what a client writes here has no effect.
	// +optional
	ChildCount int32 `json:"childCount,omitempty"`
	// conditions report problems with the namespace's position in the tree. Ready summarizes the others. A condition
	// with the reason MultipleProblems counts the problems of its type, which are listed in problems.
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
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyList is a list of Hierarchies.
type HierarchyList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of Hierarchies.
	Items []Hierarchy `json:"items"`
}

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Subnamespace requests a child namespace with its name. The namespace is created for it and deleted with it.
type Subnamespace struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name is the name of the sub-namespace, the namespace is its parent.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired metadata of the sub-namespace.
	// +optional
	Spec SubnamespaceSpec `json:"spec,omitempty"`
	// status is the observed state of the sub-namespace. It is set by the propagator.
	// +optional
	Status SubnamespaceStatus `json:"status,omitempty"`
}

// SubnamespaceSpec is the desired metadata of a sub-namespace.
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
	// namespaceLabels are set on the sub-namespace, but not on its descendants. They override labels. Labels of
	// ancestors take precedence over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceLabels []MetaKVP `json:"namespaceLabels,omitempty"`
	// namespaceAnnotations are set on the sub-namespace, but not on its descendants. They override annotations.
	// Annotations of ancestors take precedence over both.
	// +optional
	// +listType=map
	// +listMapKey=key
	NamespaceAnnotations []MetaKVP `json:"namespaceAnnotations,omitempty"`
}

// SubnamespaceState is the state of a sub-namespace in one word.
// +enum
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
	// observedGeneration is the generation of the spec that the status describes, and -1 until there is a status.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// state is Missing, Ok, Conflict or Forbidden.
	// +optional
	State SubnamespaceState `json:"state,omitempty"`
	// conditions are the latest observations. Ready is True when the namespace can be used, with everything that it
	// inherits.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceList is a list of Subnamespaces.
type SubnamespaceList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of Subnamespaces.
	Items []Subnamespace `json:"items"`
}
