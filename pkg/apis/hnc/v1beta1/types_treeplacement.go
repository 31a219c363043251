package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +genclient:onlyVerbs=create
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TreePlacement gives many namespaces their parents in one request. It can only be created, and it is not stored: the
// response reports the result for each namespace.
//
// The request is validated as a whole: only the resulting trees must be legal. Each placement needs the permissions
// that a write of the hierarchy in its namespace needs, and passes the same validation and admission policies. If one
// is rejected, none is made. They are committed one after the other, parents first, so that the trees are legal at any
// time; if the request is interrupted, repeat it: namespaces that already have their parent are not written again.
type TreePlacement struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. Only the name is used, and it may be empty.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec lists the namespaces and their parents.
	Spec TreePlacementSpec `json:"spec"`
	// status is the result.
	// +optional
	Status TreePlacementStatus `json:"status,omitempty"`
}

// TreePlacementSpec lists namespaces and their parents.
type TreePlacementSpec struct {
	// placements are the namespaces and their parents, in any order. At most 1000 items are allowed.
	// +listType=map
	// +listMapKey=namespace
	// +k8s:validation:maxItems=1000
	Placements []Placement `json:"placements"`
}

// Placement is a namespace and its parent.
type Placement struct {
	// namespace is the namespace that gets the parent.
	// +k8s:validation:maxLength=63
	Namespace string `json:"namespace"`
	// parent is the new parent of the namespace. Empty makes the namespace a root.
	// +optional
	// +k8s:validation:maxLength=63
	Parent string `json:"parent,omitempty"`
}

// TreePlacementStatus is what the request has changed.
type TreePlacementStatus struct {
	// moved is the number of namespaces that got their parent by this request.
	Moved int32 `json:"moved"`
	// unchanged is the number of namespaces that already had their parent.
	Unchanged int32 `json:"unchanged"`
	// transactions is the number of etcd transactions in which the placements were committed: one for each hierarchy
	// that was written.
	Transactions int32 `json:"transactions"`
	// placements are the results, parents before their children.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	Placements []PlacementResult `json:"placements,omitempty"`
}

// PlacementOutcome says whether a placement has changed the parent.
// +enum
type PlacementOutcome string

const (
	// PlacementMoved means that the namespace got the parent by this request.
	PlacementMoved PlacementOutcome = "Moved"
	// PlacementUnchanged means that the namespace already had the parent.
	PlacementUnchanged PlacementOutcome = "Unchanged"
)

// PlacementResult is the result for one namespace.
type PlacementResult struct {
	// namespace is the name of the namespace.
	Namespace string `json:"namespace"`
	// outcome is Moved or Unchanged.
	Outcome PlacementOutcome `json:"outcome"`
	// parent is the parent of the namespace. Empty if it is a root.
	// +optional
	Parent string `json:"parent,omitempty"`
	// previousParent is the parent that the namespace had before, if outcome is Moved. Empty if it was a root.
	// +optional
	PreviousParent string `json:"previousParent,omitempty"`
}
