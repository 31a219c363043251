package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:onlyVerbs=create,get,list,delete,deleteCollection
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OverwrittenObject keeps the content of an object before an ancestor's object of the same name overwrote it. Its name is that of
// the resource and that of the object: "configmaps:settings", "roles.rbac.authorization.k8s.io:reader". Only the propagator creates it. It shows
// only what the requester may read of the original kind: get takes the right to get the original object, list to list the
// original kind, and delete to delete the original object. It expires.
type OverwrittenObject struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the content of the object, and what took its place.
	Spec OverwrittenObjectSpec `json:"spec"`
}

// OverwrittenObjectSpec is the content of an object, and what took its place.
type OverwrittenObjectSpec struct {
	// group is the API group of the object's resource, empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the plural name of the object's resource.
	Resource string `json:"resource"`
	// name is the name of the object.
	Name string `json:"name"`
	// source is the namespace whose object took its place.
	Source string `json:"source"`
	// expirationTime is when this record expires. The server sets it.
	// +optional
	ExpirationTime metav1.Time `json:"expirationTime,omitempty"`
	// manifest is the object as JSON, without its namespace, its status and what the API server adds to metadata.
	// It is empty in lists: get the object to read it.
	Manifest string `json:"manifest"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OverwrittenObjectList is a list of overwritten objects.
type OverwrittenObjectList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the overwritten objects.
	Items []OverwrittenObject `json:"items"`
}
