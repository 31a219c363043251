package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TreePlacement is the hub type of v1beta1 TreePlacement, which documents the fields. It gives many namespaces their
// parents in one request.
type TreePlacement struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   TreePlacementSpec
	Status TreePlacementStatus
}

// TreePlacementSpec lists namespaces and their parents.
type TreePlacementSpec struct {
	Placements []Placement
}

// Placement is a namespace and its parent.
type Placement struct {
	Namespace string
	Parent    string
}

// TreePlacementStatus is what the request has changed.
type TreePlacementStatus struct {
	Moved        int32
	Unchanged    int32
	Transactions int32
	Placements   []PlacementResult
}

// PlacementOutcome says whether a placement has changed the parent.
type PlacementOutcome string

const (
	// PlacementMoved means that the namespace got the parent by this request.
	PlacementMoved PlacementOutcome = "Moved"
	// PlacementUnchanged means that the namespace already had the parent.
	PlacementUnchanged PlacementOutcome = "Unchanged"
)

// PlacementResult is the result for one namespace.
type PlacementResult struct {
	Namespace      string
	Outcome        PlacementOutcome
	Parent         string
	PreviousParent string
}
