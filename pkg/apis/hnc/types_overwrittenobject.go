package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OverwrittenObject is the hub type of v1beta1 OverwrittenObject, which documents the fields. It keeps the content of
// an object that the propagator overwrote.
type OverwrittenObject struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec OverwrittenObjectSpec
}

// OverwrittenObjectSpec is the content of an overwritten object and the source that replaced it.
type OverwrittenObjectSpec struct {
	Group          string
	Resource       string
	Name           string
	Source         string
	ExpirationTime metav1.Time
	Manifest       string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OverwrittenObjectList is a list of OverwrittenObjects.
type OverwrittenObjectList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []OverwrittenObject
}

// OverwrittenName returns the name of the OverwrittenObject of an object.
func OverwrittenName(resource schema.GroupResource, name string) string {
	return resource.String() + ":" + name
}
