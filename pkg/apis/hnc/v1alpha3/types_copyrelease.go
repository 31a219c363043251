package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyRelease requests that a copy of a kind that is not propagated any more (mode Ignore) becomes a local object.
// Creating it requires permission to update the copy, and to administer the namespace of its source. The propagator
// releases the copy and reports the result. The request expires after ten minutes.
type CopyRelease struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec identifies the copy. It is immutable.
	Spec CopyReleaseSpec `json:"spec"`
	// status is the result of the release. It is set by the propagator.
	// +optional
	Status CopyReleaseStatus `json:"status,omitempty"`
}

// CopyReleaseSpec identifies a copy.
type CopyReleaseSpec struct {
	// group is the API group of the copy's resource. Empty means the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the plural name of the copy's resource.
	Resource string `json:"resource"`
	// name is the name of the copy.
	Name string `json:"name"`
	// source is the namespace of the copy's source, which is the value of its label hnc.x-k8s.io/inherited-from.
	Source string `json:"source"`
}

// CopyReleaseStatus is the result of a release.
type CopyReleaseStatus struct {
	// observedGeneration is the generation of the spec that the status describes, and -1 until there is a status.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions contains Ready. It is True if the copy has become a local object, and False if it will not become
	// one.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyReleaseList is a list of CopyReleases.
type CopyReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of CopyReleases.
	Items []CopyRelease `json:"items"`
}
