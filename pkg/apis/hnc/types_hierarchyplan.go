package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyPlan is the hub type of v1beta1 HierarchyPlan, which documents the fields. It shows the effects of a
// change before it is made.
type HierarchyPlan struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   HierarchyPlanSpec
	Status HierarchyPlanStatus
}

// PlannedChange is the type of a planned change.
type PlannedChange string

const (
	// ChangeParent sets the parent of the namespace, or removes it.
	ChangeParent PlannedChange = "Parent"
	// ChangeDelete deletes the namespace; a sub-namespace by deleting its Subnamespace.
	ChangeDelete PlannedChange = "Delete"
	// ChangePropagation sets spec.propagation of the namespace's hierarchy.
	ChangePropagation PlannedChange = "Propagation"
	// ChangeConfiguration sets spec.resources of the cluster's configuration.
	ChangeConfiguration PlannedChange = "Configuration"
	// ChangeRules sets spec.rules of the cluster's configuration.
	ChangeRules PlannedChange = "Rules"
	// ChangeAbstractAncestors sets spec.abstractAncestors of the namespace's hierarchy.
	ChangeAbstractAncestors PlannedChange = "AbstractAncestors"
)

// HierarchyPlanSpec is the planned change.
type HierarchyPlanSpec struct {
	Change    PlannedChange
	Parent    string
	Resources []ResourceSpec
	Rules     *Rules
	// AbstractAncestors is the new spec.abstractAncestors if Change is AbstractAncestors.
	AbstractAncestors []string
	Limit             int32
	Continue          string
}

// HierarchyPlanStatus is the effect of a change.
type HierarchyPlanStatus struct {
	Refusals   []PlannedRefusal
	Unknown    []string
	Hidden     []HiddenKind
	Summary    PlanSummary
	Namespaces []NamespacePlan
	Continue   string
	// ExceededQuotas are the hierarchical quotas that a move would exceed.
	ExceededQuotas        []ExceededQuota
	OmittedExceededQuotas int32
}

// ExceededQuota is a resource of which a move would exceed a hierarchical quota.
type ExceededQuota struct {
	Namespace string
	Name      string
	Resource  string
	Used      string
	Moved     string
	Limit     string
}

// PlannedRefusal is a reason why a change would be rejected.
type PlannedRefusal struct {
	Reason  metav1.StatusReason
	Message string
}

// PlanSummary counts the effects of a change.
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

// PlannedFate is the effect of a change on a namespace.
type PlannedFate string

const (
	// FateDeleted means that the namespace would be deleted.
	FateDeleted PlannedFate = "Deleted"
	// FateOrphaned means that the namespace would lose its parent and keep its copies until it gets another parent.
	FateOrphaned PlannedFate = "Orphaned"
)

// NamespacePlan is the effect of a change in one namespace.
type NamespacePlan struct {
	Name    string
	Fate    PlannedFate
	Labels  []PlannedLabel
	Objects []PlannedObject
	Access  []PlannedAccess
	Quotas  []PlannedQuota
}

// PlannedLabel is a tree label of a namespace and the effect of the change on it.
type PlannedLabel struct {
	Key    string
	Before string
	After  string
}

// PlannedAction is the effect of a change on an object.
type PlannedAction string

const (
	// ActionAdd means that a copy would be added.
	ActionAdd PlannedAction = "Add"
	// ActionChange means that a copy would be replaced by that of another source, or updated.
	ActionChange PlannedAction = "Change"
	// ActionOverwrite means that a local object would be replaced by a copy, or a RoleBinding removed that refers to a
	// replaced Role.
	ActionOverwrite PlannedAction = "Overwrite"
	// ActionRemove means that a copy would be removed.
	ActionRemove PlannedAction = "Remove"
	// ActionKeep means that a local object would be kept although an ancestor has a source of the same name.
	ActionKeep PlannedAction = "Keep"
)

// PlannedObject is an object and the effect of the change on it.
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

// HiddenKind is a kind whose objects the answer omits.
type HiddenKind struct {
	Group    string
	Resource string
}

// AccessChange is a change of a subject's access.
type AccessChange string

const (
	// AccessGained means that a subject would gain the role.
	AccessGained AccessChange = "Gained"
	// AccessLost means that a subject would lose the role.
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
