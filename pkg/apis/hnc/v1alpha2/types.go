package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyConfiguration defines the parent of its namespace. There is at most one per namespace, named "hierarchy".
type HierarchyConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name must be "hierarchy".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired position of the namespace in the tree.
	// +optional
	Spec HierarchyConfigurationSpec `json:"spec,omitempty"`
	// status is the observed position of the namespace in the tree. It is set by the propagator.
	// +optional
	Status HierarchyConfigurationStatus `json:"status,omitempty"`
}

// HierarchyConfigurationSpec is the desired position of a namespace in the tree.
type HierarchyConfigurationSpec struct {
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
	// +listType=atomic
	Labels []MetaKVP `json:"labels,omitempty"`
	// annotations are set on this namespace and on all its descendants.
	// +optional
	// +listType=atomic
	Annotations []MetaKVP `json:"annotations,omitempty"`
}

// MetaKVP is a label or an annotation.
type MetaKVP struct {
	// key is the name of the label or annotation.
	Key string `json:"key"`
	// value is the value of the label or annotation.
	Value string `json:"value"`
}

// HierarchyConfigurationStatus is the observed position of a namespace in the tree.
type HierarchyConfigurationStatus struct {
	// children are the names of the namespace's children, sorted.
	// +optional
	// +listType=atomic
	Children []string `json:"children,omitempty"`
	// conditions report problems with the namespace's position in the tree: the most severe one of type
	// ActivitiesHalted and the most severe one of type BadConfiguration. v1beta1 shows all of them, and Ready.
	// +optional
	// +listType=atomic
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyConfigurationList is a list of HierarchyConfigurations.
type HierarchyConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of HierarchyConfigurations.
	Items []HierarchyConfiguration `json:"items"`
}

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceAnchor requests a child namespace with its name. The namespace is created for it and deleted with it.
type SubnamespaceAnchor struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name is the name of the sub-namespace, the namespace is its parent.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired metadata of the sub-namespace.
	// +optional
	Spec SubnamespaceAnchorSpec `json:"spec,omitempty"`
	// status is the observed state of the sub-namespace. It is set by the propagator.
	// +optional
	Status SubnamespaceAnchorStatus `json:"status,omitempty"`
}

// SubnamespaceAnchorSpec is the desired metadata of a sub-namespace.
type SubnamespaceAnchorSpec struct {
	// labels are set on the sub-namespace and on all its descendants.
	// +optional
	// +listType=atomic
	Labels []MetaKVP `json:"labels,omitempty"`
	// annotations are set on the sub-namespace and on all its descendants.
	// +optional
	// +listType=atomic
	Annotations []MetaKVP `json:"annotations,omitempty"`
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

// SubnamespaceAnchorStatus is the observed state of a sub-namespace.
type SubnamespaceAnchorStatus struct {
	// status is Missing, Ok, Conflict or Forbidden.
	// +optional
	Status SubnamespaceState `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceAnchorList is a list of SubnamespaceAnchors.
type SubnamespaceAnchorList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of SubnamespaceAnchors.
	Items []SubnamespaceAnchor `json:"items"`
}
