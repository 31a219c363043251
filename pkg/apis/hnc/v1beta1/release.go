package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyRelease asks that a copy of a kind that is not propagated any more (mode Ignore) becomes an ordinary object of its namespace. Creating
// it takes the right to update the copy, and being admin of the namespace of its source. The propagator carries it
// out and reports the result; it expires ten minutes later.
type CopyRelease struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec names the copy. It can't be changed.
	Spec CopyReleaseSpec `json:"spec"`
	// status tells what became of it. It is written by the propagator.
	// +optional
	Status CopyReleaseStatus `json:"status,omitempty"`
}

// CopyReleaseSpec names a copy.
type CopyReleaseSpec struct {
	// group is the API group of the copy's resource, empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the plural name of the copy's resource.
	Resource string `json:"resource"`
	// name is the name of the copy.
	Name string `json:"name"`
	// source is the namespace that the copy comes from, as its label hnc.x-k8s.io/inherited-from says.
	Source string `json:"source"`
}

// CopyReleaseStatus tells what became of a release.
type CopyReleaseStatus struct {
	// conditions has Released: true if the copy is an ordinary object now, false if it is not and will not become one.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyReleaseList is a list of releases.
type CopyReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the releases.
	Items []CopyRelease `json:"items"`
}
