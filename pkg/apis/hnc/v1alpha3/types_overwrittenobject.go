package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:onlyVerbs=create,get,list,delete,deleteCollection
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OverwrittenObject keeps the content of an object that a copy of an ancestor's object overwrote. Its name consists
// of the resource and the name of the object, such as "configmaps:settings" or
// "roles.rbac.authorization.k8s.io:reader". Only the propagator creates it. Users need permission for the original
// kind: get requires permission to get the original object, list to list the original kind, and delete to delete the
// original object. It expires.
type OverwrittenObject struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the content of the object and the source that replaced it.
	Spec OverwrittenObjectSpec `json:"spec"`
}

// OverwrittenObjectSpec is the content of an object and the source that replaced it.
type OverwrittenObjectSpec struct {
	// group is the API group of the object's resource. Empty means the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the plural name of the object's resource.
	Resource string `json:"resource"`
	// name is the name of the object.
	Name string `json:"name"`
	// source is the namespace of the object whose copy replaced it.
	Source string `json:"source"`
	// expirationTime is the time when this record expires. It is set by the server.
	// +optional
	ExpirationTime metav1.Time `json:"expirationTime,omitempty"`
	// manifest is the object as JSON, without its namespace, its status and the metadata that the API server sets. It
	// is empty in lists: get the object to read it.
	Manifest string `json:"manifest"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OverwrittenObjectList is a list of OverwrittenObjects.
type OverwrittenObjectList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of OverwrittenObjects.
	Items []OverwrittenObject `json:"items"`
}
