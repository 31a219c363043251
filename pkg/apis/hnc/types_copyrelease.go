package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CopyReleaseTTL is for how many seconds after its creation, which was authorized, a CopyRelease is stored and can be
// fulfilled.
const CopyReleaseTTL = 10 * 60

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyRelease is the hub type of v1beta1 CopyRelease, which documents the fields. It requests that a copy becomes a
// local object.
type CopyRelease struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   CopyReleaseSpec
	Status CopyReleaseStatus
}

// CopyReleaseSpec identifies a copy.
type CopyReleaseSpec struct {
	Group    string
	Resource string
	Name     string
	Source   string
}

// CopyReleaseStatus is the result of a release.
type CopyReleaseStatus struct {
	ObservedGeneration int64
	Conditions         []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyReleaseList is a list of CopyReleases.
type CopyReleaseList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []CopyRelease
}

// Reasons of the condition Ready of a CopyRelease, which reports whether a copy has become a local object, and the
// event.
const (
	// ReasonReleased means that the copy has become a local object.
	ReasonReleased = "Released"
	// ReasonNoCopy means that there is no copy from that namespace.
	ReasonNoCopy = "NoCopy"
	// ReasonStillPropagated means that the kind is propagated again, or that the object of another ancestor applies.
	ReasonStillPropagated = "StillPropagated"
	// ReasonReleaseRefused means that the propagator may not update the copy, or that the API server rejects the
	// update.
	ReasonReleaseRefused = "ReleaseRefused"

	// EventReleased is the reason of the event on a released object: it is no copy any more.
	EventReleased = "CopyReleased"
)
