package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyPlan tells what a change would do, before it is made. It is asked for by creating it as the subresource plan of the hierarchy of
// a namespace, which need not exist, and is not stored.
type HierarchyPlan struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name, if it is given, must be "hierarchy".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the change, and how much is to be told of what it would do.
	Spec HierarchyPlanSpec `json:"spec"`
	// status is the answer.
	// +optional
	Status HierarchyPlanStatus `json:"status,omitempty"`
}

// PlannedChange is what is changed.
// +enum
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
	// change says what is changed: Parent, Delete, Propagation or Configuration.
	Change PlannedChange `json:"change"`
	// parent is the parent that the namespace shall have if change is Parent, empty for none.
	// +optional
	// +k8s:validation:maxLength=63
	Parent string `json:"parent,omitempty"`
	// resources are what the hierarchy shall say if change is Propagation, and the configuration if it is Configuration. The answer is about
	// the namespace and its descendants. There can be 100 at most.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	Resources []ResourceSpec `json:"resources,omitempty"`
	// limit is how many objects are told at most, 500 by default.
	// +optional
	// +k8s:validation:minimum=0
	// +k8s:validation:maximum=5000
	Limit int32 `json:"limit,omitempty"`
	// continue is that of the answer after which this one goes on.
	// +optional
	// +k8s:validation:maxLength=1024
	Continue string `json:"continue,omitempty"`
}

// HierarchyPlanStatus is what a change would do.
type HierarchyPlanStatus struct {
	// refusals say why the change would be refused. It would be accepted if there are none. If the requester lacks the rights for the
	// change, the answer consists of these refusals alone.
	// +optional
	// +listType=atomic
	Refusals []PlannedRefusal `json:"refusals,omitempty"`
	// unknown says what is not known, and so is not told.
	// +optional
	// +listType=atomic
	Unknown []string `json:"unknown,omitempty"`
	// hidden are the propagated kinds that the requester may not list in the namespace. The answer does not say whether the change affects
	// any objects of these kinds.
	// +optional
	// +listType=atomic
	Hidden []HiddenKind `json:"hidden,omitempty"`
	// summary counts what all answers together show. Objects and namespaces that the requester may not read are not counted.
	Summary PlanSummary `json:"summary"`
	// namespaces are those in which something would happen, parents before their children.
	// +optional
	// +listType=atomic
	Namespaces []NamespacePlan `json:"namespaces,omitempty"`
	// continue is to be sent with the same change for what is not told yet. It is empty if there is nothing more.
	// +optional
	Continue string `json:"continue,omitempty"`
}

// PlannedRefusal is a reason for which a change would be refused.
type PlannedRefusal struct {
	// reason is that of the error, such as Forbidden or Conflict.
	Reason metav1.StatusReason `json:"reason"`
	// message says what is wrong and what to do.
	Message string `json:"message"`
}

// PlanSummary counts what a change would do.
type PlanSummary struct {
	// namespaces is the number of namespaces in which something would happen.
	Namespaces int32 `json:"namespaces"`
	// deleted is the number of namespaces that would be deleted.
	Deleted int32 `json:"deleted"`
	// orphaned is the number of namespaces whose parent would be gone.
	Orphaned int32 `json:"orphaned"`
	// added is the number of copies that would be added.
	Added int32 `json:"added"`
	// changed is the number of copies that would be replaced by those of other sources.
	Changed int32 `json:"changed"`
	// overwritten is the number of local objects that would be replaced by copies.
	Overwritten int32 `json:"overwritten"`
	// removed is the number of copies that would be removed.
	Removed int32 `json:"removed"`
	// kept is the number of local objects that would be left alone although an ancestor has one of the same name.
	Kept int32 `json:"kept"`
}

// PlannedFate is what becomes of a namespace.
// +enum
type PlannedFate string

const (
	// FateDeleted says that the namespace would be deleted.
	FateDeleted PlannedFate = "Deleted"
	// FateOrphaned says that the namespace would stay without its parent, with all that it has inherited, until it gets another one.
	FateOrphaned PlannedFate = "Orphaned"
)

// NamespacePlan is what a change would do in one namespace.
type NamespacePlan struct {
	// name is the name of the namespace.
	Name string `json:"name"`
	// fate is Deleted, Orphaned, or empty if the namespace would stay as it is.
	// +optional
	Fate PlannedFate `json:"fate,omitempty"`
	// objects would be written.
	// +optional
	// +listType=atomic
	Objects []PlannedObject `json:"objects,omitempty"`
	// access is what subjects of RoleBindings would gain and lose.
	// +optional
	// +listType=atomic
	Access []PlannedAccess `json:"access,omitempty"`
	// quotas are the object counts of ResourceQuotas that would be exceeded: copies that exceed one are not written.
	// +optional
	// +listType=atomic
	Quotas []PlannedQuota `json:"quotas,omitempty"`
}

// PlannedAction is what would be done to an object.
// +enum
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
	// action is Add, Change, Overwrite, Remove or Keep.
	Action PlannedAction `json:"action"`
	// group is the API group, empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// version is the API version.
	Version string `json:"version"`
	// resource is the resource's plural name.
	Resource string `json:"resource"`
	// kind is the kind of the object.
	Kind string `json:"kind"`
	// name is the name of the object.
	Name string `json:"name"`
	// source is the namespace that it would come from; of one that is removed, the one that it has come from.
	// +optional
	Source string `json:"source,omitempty"`
	// difference is what would change in the object, as a unified diff. The contents of Secrets are left out.
	// +optional
	Difference string `json:"difference,omitempty"`
}

// HiddenKind is a kind of which the answer leaves out objects.
type HiddenKind struct {
	// group is the API group, empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the resource's plural name.
	Resource string `json:"resource"`
}

// AccessChange is what happens to a right.
// +enum
type AccessChange string

const (
	// AccessGained says that a subject would gain the role.
	AccessGained AccessChange = "Gained"
	// AccessLost says that a subject would lose the role.
	AccessLost AccessChange = "Lost"
)

// PlannedAccess is a role that a subject would gain or lose in a namespace.
type PlannedAccess struct {
	// change is Gained or Lost.
	Change AccessChange `json:"change"`
	// kind is User, Group or ServiceAccount.
	Kind string `json:"kind"`
	// namespace is that of a ServiceAccount.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name is the name of the subject.
	Name string `json:"name"`
	// roleKind is Role or ClusterRole.
	RoleKind string `json:"roleKind"`
	// role is the name of the role.
	Role string `json:"role"`
}

// PlannedQuota is a ResourceQuota that would be exceeded.
type PlannedQuota struct {
	// name is the name of the ResourceQuota.
	Name string `json:"name"`
	// resource is what it counts, such as count/configmaps.
	Resource string `json:"resource"`
	// hard is how many there may be.
	Hard int64 `json:"hard"`
	// planned is how many there would be.
	Planned int64 `json:"planned"`
}
