package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyConfiguration places its namespace in a tree of namespaces. There is at most one per namespace, named "hierarchy".
type HierarchyConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name must be "hierarchy".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the place that the namespace shall have in the tree.
	// +optional
	Spec HierarchyConfigurationSpec `json:"spec,omitempty"`
	// status is what the tree looks like from this namespace. It is written by the propagator.
	// +optional
	Status HierarchyConfigurationStatus `json:"status,omitempty"`
}

// HierarchyConfigurationSpec is the place that a namespace shall have in the tree.
type HierarchyConfigurationSpec struct {
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

// HierarchyConfigurationStatus is what the tree looks like from a namespace.
type HierarchyConfigurationStatus struct {
	// children are the names of the namespaces whose parent is this namespace, sorted.
	// +optional
	// +listType=atomic
	Children []string `json:"children,omitempty"`
	// conditions tell what is wrong with the namespace's place in the tree: one of type ActivitiesHalted and one of type
	// BadConfiguration, the gravest of each. v1beta1 shows all, and Ready.
	// +optional
	// +listType=atomic
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyConfigurationList is a list of hierarchies.
type HierarchyConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the hierarchies.
	Items []HierarchyConfiguration `json:"items"`
}

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceAnchor asks for a namespace of the same name below the namespace that it is in. The namespace is created for
// it, and deleted with it.
type SubnamespaceAnchor struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name is the name of the sub-namespace, the namespace is its parent.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what the sub-namespace shall look like.
	// +optional
	Spec SubnamespaceAnchorSpec `json:"spec,omitempty"`
	// status tells what became of it. It is written by the propagator.
	// +optional
	Status SubnamespaceAnchorStatus `json:"status,omitempty"`
}

// SubnamespaceAnchorSpec says what a sub-namespace shall look like.
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

// SubnamespaceAnchorStatus tells what became of a sub-namespace.
type SubnamespaceAnchorStatus struct {
	// status is Missing, Ok, Conflict or Forbidden.
	// +optional
	Status SubnamespaceState `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SubnamespaceAnchorList is a list of sub-namespaces.
type SubnamespaceAnchorList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the sub-namespaces.
	Items []SubnamespaceAnchor `json:"items"`
}
