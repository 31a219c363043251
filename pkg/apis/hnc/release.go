package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyRelease is the hub form of v1beta1 CopyRelease, which documents the fields. It asks that a copy becomes an ordinary object.
type CopyRelease struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   CopyReleaseSpec
	Status CopyReleaseStatus
}

// CopyReleaseSpec names a copy.
type CopyReleaseSpec struct {
	Group    string
	Resource string
	Name     string
	Source   string
}

// CopyReleaseStatus tells what became of it.
type CopyReleaseStatus struct {
	Conditions []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CopyReleaseList is a list of releases.
type CopyReleaseList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []CopyRelease
}

// ConditionReleased tells whether a copy has become an ordinary object.
const (
	ConditionReleased = "Released"

	ReasonReleased        = "Released"
	ReasonNoCopy          = "NoCopy"
	ReasonStillPropagated = "StillPropagated"
	ReasonReleaseRefused  = "ReleaseRefused"

	// EventReleased is the reason of the event on the object.
	EventReleased = "CopyReleased"
)
