package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MyNamespace is a namespace that the requester is allowed to get; v1beta1 documents the fields.
type MyNamespace struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status MyNamespaceStatus
}

// MyNamespaceStatus is the state of a namespace and its position in the tree.
type MyNamespaceStatus struct {
	Phase  string
	Kind   NamespaceKind
	Parent string
	Root   string
	Depth  int32
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MyNamespaceList is a list of MyNamespaces.
type MyNamespaceList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []MyNamespace
}
