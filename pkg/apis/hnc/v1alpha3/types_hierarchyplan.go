package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// HierarchyPlan shows the effects of a change before it is made. Create it as the subresource plan of the hierarchy
// of a namespace. The hierarchy need not exist, and the plan is not stored.
type HierarchyPlan struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name may be empty or "hierarchy".
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the planned change.
	Spec HierarchyPlanSpec `json:"spec"`
	// status is the effect of the change.
	// +optional
	Status HierarchyPlanStatus `json:"status,omitempty"`
}

// PlannedChange is the type of a planned change.
// +enum
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
	// change is the type of the change: Parent, Delete, Propagation, Configuration, Rules or
	// AbstractAncestors.
	Change PlannedChange `json:"change"`
	// parent is the new parent of the namespace if change is Parent. Empty means none.
	// +optional
	// +k8s:validation:maxLength=63
	Parent string `json:"parent,omitempty"`
	// resources is the new spec.propagation of the hierarchy if change is Propagation, or the new spec.resources of
	// the configuration if change is Configuration. The answer covers the namespace and its descendants. At most 100
	// items are allowed.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	Resources []v1beta1.ResourceSpec `json:"resources,omitempty"`
	// rules is the new spec.rules of the configuration if change is Rules. The answer covers the namespace and its
	// descendants.
	// +optional
	Rules *v1beta1.Rules `json:"rules,omitempty"`
	// abstractAncestors is the new spec.abstractAncestors of the hierarchy if change is AbstractAncestors. At most 100
	// items are allowed.
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=100
	AbstractAncestors []string `json:"abstractAncestors,omitempty"`
	// limit is the maximum number of objects on a page of the answer. Changes of access, exceeded quotas and tens of
	// labels count instead if a namespace has more of them; its quotas and labels are all on one page. Defaults to 500.
	// +optional
	// +k8s:validation:minimum=0
	// +k8s:validation:maximum=5000
	Limit int32 `json:"limit,omitempty"`
	// continue is the continue value of the previous answer.
	// +optional
	// +k8s:validation:maxLength=1024
	Continue string `json:"continue,omitempty"`
}

// HierarchyPlanStatus is the effect of a change.
type HierarchyPlanStatus struct {
	// refusals are the reasons why the change would be rejected; empty if it would be accepted. If the requester
	// lacks permission for the change, the answer contains nothing else.
	// +optional
	// +listType=atomic
	Refusals []PlannedRefusal `json:"refusals,omitempty"`
	// unknown lists what could not be determined.
	// +optional
	// +listType=atomic
	Unknown []string `json:"unknown,omitempty"`
	// hidden are the propagated kinds that the requester is not allowed to list in the namespace. The answer does not
	// reveal whether the change affects objects of these kinds.
	// +optional
	// +listType=atomic
	Hidden []HiddenKind `json:"hidden,omitempty"`
	// summary counts the effects in all pages of the answer. It excludes objects and namespaces that the requester is
	// not allowed to read.
	Summary PlanSummary `json:"summary"`
	// namespaces are the affected namespaces, parents before their children.
	// +optional
	// +listType=atomic
	Namespaces []NamespacePlan `json:"namespaces,omitempty"`
	// continue requests the next page if it is sent with the same change. It is empty on the last page.
	// +optional
	Continue string `json:"continue,omitempty"`
	// exceededQuotas are the resources of which a move would exceed hierarchical quotas, for quotas that the requester is
	// allowed to get: at most 1000, in the order of namespaces from the root down, names and resources. Only the first page
	// contains them.
	// +optional
	// +listType=atomic
	ExceededQuotas []ExceededQuota `json:"exceededQuotas,omitempty"`
	// omittedExceededQuotas is the number of those that exceededQuotas does not contain.
	// +optional
	OmittedExceededQuotas int32 `json:"omittedExceededQuotas,omitempty"`
}

// PlannedRefusal is a reason why a change would be rejected.
type PlannedRefusal struct {
	// reason is the reason of the error, such as Forbidden or Conflict.
	Reason metav1.StatusReason `json:"reason"`
	// message describes the problem and how to solve it.
	Message string `json:"message"`
}

// PlanSummary counts the effects of a change.
type PlanSummary struct {
	// namespaces is the number of affected namespaces.
	Namespaces int32 `json:"namespaces"`
	// deleted is the number of namespaces that would be deleted.
	Deleted int32 `json:"deleted"`
	// orphaned is the number of namespaces that would lose their parent.
	Orphaned int32 `json:"orphaned"`
	// added is the number of copies that would be added.
	Added int32 `json:"added"`
	// changed is the number of copies that would be replaced by copies of other sources.
	Changed int32 `json:"changed"`
	// overwritten is the number of local objects that would be replaced by copies, or removed because they refer to such.
	Overwritten int32 `json:"overwritten"`
	// removed is the number of copies that would be removed.
	Removed int32 `json:"removed"`
	// kept is the number of local objects that would be kept although an ancestor has a source of the same name.
	Kept int32 `json:"kept"`
}

// PlannedFate is the effect of a change on a namespace.
// +enum
type PlannedFate string

const (
	// FateDeleted means that the namespace would be deleted.
	FateDeleted PlannedFate = "Deleted"
	// FateOrphaned means that the namespace would lose its parent and keep its copies until it gets another parent.
	FateOrphaned PlannedFate = "Orphaned"
)

// NamespacePlan is the effect of a change in one namespace.
type NamespacePlan struct {
	// name is the name of the namespace.
	Name string `json:"name"`
	// fate is Deleted or Orphaned. It is empty if the namespace stays in the tree.
	// +optional
	Fate PlannedFate `json:"fate,omitempty"`
	// labels are the tree labels that would change if change is AbstractAncestors.
	// +optional
	// +listType=atomic
	Labels []PlannedLabel `json:"labels,omitempty"`
	// objects are the affected objects.
	// +optional
	// +listType=atomic
	Objects []PlannedObject `json:"objects,omitempty"`
	// access lists the roles that subjects of RoleBindings would gain or lose.
	// +optional
	// +listType=atomic
	Access []PlannedAccess `json:"access,omitempty"`
	// quotas are the object counts of ResourceQuotas that would be exceeded. Copies that exceed a quota are not
	// created.
	// +optional
	// +listType=atomic
	Quotas []PlannedQuota `json:"quotas,omitempty"`
}

// PlannedAction is the effect of a change on an object.
// +enum
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
	// action is Add, Change, Overwrite, Remove or Keep.
	Action PlannedAction `json:"action"`
	// group is the API group of the object. Empty means the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// version is the API version of the object.
	Version string `json:"version"`
	// resource is the plural name of the resource.
	Resource string `json:"resource"`
	// kind is the kind of the object.
	Kind string `json:"kind"`
	// name is the name of the object.
	Name string `json:"name"`
	// source is the namespace of the object's source; for a removed copy, that of its previous source.
	// +optional
	Source string `json:"source,omitempty"`
	// difference is the change of the object as a unified diff. The contents of Secrets are omitted.
	// +optional
	Difference string `json:"difference,omitempty"`
}

// HiddenKind is a kind whose objects the answer omits.
type HiddenKind struct {
	// group is the API group of the kind. Empty means the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// resource is the plural name of the resource.
	Resource string `json:"resource"`
}
