package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +genclient:onlyVerbs=get,list,watch
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MyNamespace is a namespace that the requester is allowed to get by RBAC. All users are allowed to list and watch
// their own. The objects are computed and read-only.
type MyNamespace struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name, UID, labels, creation and deletion timestamps are those of the Namespace.
	// The resourceVersion is valid for watches on the same replica only.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is the state of the namespace and its position in the tree.
	// +optional
	Status MyNamespaceStatus `json:"status,omitempty"`
}

// MyNamespaceStatus is the state of a namespace and its position in the tree according to its tree labels.
type MyNamespaceStatus struct {
	// phase is Active or Terminating.
	// +optional
	Phase string `json:"phase,omitempty"`
	// kind is Full, Subnamespace or External.
	// +optional
	Kind NamespaceKind `json:"kind,omitempty"`
	// parent is the name of the parent. Empty for a root.
	// +optional
	Parent string `json:"parent,omitempty"`
	// root is the name of the root of the tree. It may be the namespace itself.
	// +optional
	Root string `json:"root,omitempty"`
	// depth is the distance from the root.
	Depth int32 `json:"depth"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MyNamespaceList is a list of MyNamespaces.
type MyNamespaceList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of MyNamespaces, sorted by name.
	Items []MyNamespace `json:"items"`
}
