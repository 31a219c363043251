package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyPlan is the hub form of v1beta1 HierarchyPlan, which documents the fields. HierarchyPlan tells what a change would do, before it is made. It is asked for by creating it as the subresource plan of the hierarchy of
// a namespace, which need not exist, and is not stored.
type HierarchyPlan struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HierarchyPlanSpec
	Status HierarchyPlanStatus
}

// PlannedChange is what is changed.
type PlannedChange string

const (
	// ChangeParent gives the namespace another parent, or none.
	ChangeParent PlannedChange = "Parent"
	// ChangeDelete deletes the namespace; a sub-namespace by deleting its Subnamespace.
	ChangeDelete PlannedChange = "Delete"
	// ChangePropagation sets spec.propagation of the namespace's hierarchy.
	ChangePropagation PlannedChange = "Propagation"
	// ChangeConfiguration sets spec.resources of the cluster's configuration.
	ChangeConfiguration PlannedChange = "Configuration"
)

// HierarchyPlanSpec is a change.
type HierarchyPlanSpec struct {
	Change    PlannedChange
	Parent    string
	Resources []ResourceSpec
	Limit     int32
	Continue  string
}

// HierarchyPlanStatus is what a change would do.
type HierarchyPlanStatus struct {
	Refusals   []PlannedRefusal
	Unknown    []string
	Hidden     []HiddenKind
	Summary    PlanSummary
	Namespaces []NamespacePlan
	Continue   string
}

// PlannedRefusal is a reason for which a change would be refused.
type PlannedRefusal struct {
	Reason  metav1.StatusReason
	Message string
}

// PlanSummary counts what a change would do.
type PlanSummary struct {
	Namespaces  int32
	Deleted     int32
	Orphaned    int32
	Added       int32
	Changed     int32
	Overwritten int32
	Removed     int32
	Kept        int32
}

// PlannedFate is what becomes of a namespace.
type PlannedFate string

const (
	// FateDeleted says that the namespace would be deleted.
	FateDeleted PlannedFate = "Deleted"
	// FateOrphaned says that the namespace would stay without its parent, with all that it has inherited, until it gets another one.
	FateOrphaned PlannedFate = "Orphaned"
)

// NamespacePlan is what a change would do in one namespace.
type NamespacePlan struct {
	Name    string
	Fate    PlannedFate
	Objects []PlannedObject
	Access  []PlannedAccess
	Quotas  []PlannedQuota
}

// PlannedAction is what would be done to an object.
type PlannedAction string

const (
	// ActionAdd says that a copy would be added.
	ActionAdd PlannedAction = "Add"
	// ActionChange says that a copy would be replaced by that of another source, or by a newer one.
	ActionChange PlannedAction = "Change"
	// ActionOverwrite says that a local object would be replaced by a copy.
	ActionOverwrite PlannedAction = "Overwrite"
	// ActionRemove says that a copy would be removed.
	ActionRemove PlannedAction = "Remove"
	// ActionKeep says that a local object would be left alone although an ancestor has one of the same name.
	ActionKeep PlannedAction = "Keep"
)

// PlannedObject is an object, and what would be done to it.
type PlannedObject struct {
	Action     PlannedAction
	Group      string
	Version    string
	Resource   string
	Kind       string
	Name       string
	Source     string
	Difference string
}

// HiddenKind is a kind of which the answer leaves out objects.
type HiddenKind struct {
	Group    string
	Resource string
}

// AccessChange is what happens to a right.
type AccessChange string

const (
	// AccessGained says that a subject would gain the role.
	AccessGained AccessChange = "Gained"
	// AccessLost says that a subject would lose the role.
	AccessLost AccessChange = "Lost"
)

// PlannedAccess is a role that a subject would gain or lose in a namespace.
type PlannedAccess struct {
	Change    AccessChange
	Kind      string
	Namespace string
	Name      string
	RoleKind  string
	Role      string
}

// PlannedQuota is a ResourceQuota that would be exceeded.
type PlannedQuota struct {
	Name     string
	Resource string
	Hard     int64
	Planned  int64
}
