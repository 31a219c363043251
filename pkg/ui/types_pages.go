package ui

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/admins"
)

// Access says who has which permission in a namespace.
type Access struct {
	// Grants are those of the permission in question, or all.
	Grants []admins.Grant `json:"grants"`
	// Notes say what could not be read.
	Notes []string `json:"notes,omitempty"`
}

// Quotas are the hierarchical quotas that the user may see.
type Quotas struct {
	Quotas []Quota  `json:"quotas"`
	Notes  []string `json:"notes,omitempty"`
}

// Quota is a hierarchical quota. Its limits are sorted by the share that is used, the fullest first.
type Quota struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Limits    []Limit `json:"limits"`
	// Namespaces are those of the subtree that use something of it. Omitted is how many others do.
	Namespaces []Use              `json:"namespaces"`
	Omitted    int32              `json:"omitted,omitempty"`
	Scoped     bool               `json:"scoped,omitempty"`
	Problems   []metav1.Condition `json:"problems,omitempty"`
}

// Limit is the limit of a resource, and the use of the whole subtree.
type Limit struct {
	Resource string `json:"resource"`
	Hard     string `json:"hard"`
	Used     string `json:"used"`
	// Value is Hard as a number. Share is the part that is used, 1 for a full quota.
	Value float64 `json:"value"`
	Share float64 `json:"share"`
}

// Use is what a namespace itself uses of a quota, for each resource as a number.
type Use struct {
	Namespace string             `json:"namespace"`
	Used      map[string]float64 `json:"used"`
}

// Administration is what the cluster's configuration says, and the repositories of policy.
type Administration struct {
	Kinds        []v1beta1.ResourceStatus `json:"kinds"`
	Problems     []metav1.Condition       `json:"problems,omitempty"`
	Rules        *v1beta1.Rules           `json:"rules,omitempty"`
	Repositories []Repository             `json:"repositories"`
	// Notes say what could not be read.
	Notes []string `json:"notes,omitempty"`
}

// Repository is a RepositorySync.
type Repository struct {
	Name    string                 `json:"name"`
	Synced  metav1.ConditionStatus `json:"synced"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
	// Applied and Seen are commits.
	Applied string   `json:"applied,omitempty"`
	Seen    string   `json:"seen,omitempty"`
	Failed  int32    `json:"failed,omitempty"`
	Objects int32    `json:"objects"`
	Errors  []string `json:"errors,omitempty"`
}

// Check is the result of a check of the installation.
type Check struct {
	// Severity is ok, unknown, warning or error.
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Text     string `json:"text"`
	Hint     string `json:"hint,omitempty"`
}

// ChangeKind is a type of change.
type ChangeKind string

// The changes that the page shows before they are made.
const (
	ChangeMove   ChangeKind = "move"
	ChangeRoot   ChangeKind = "root"
	ChangeDelete ChangeKind = "delete"
	ChangeMode   ChangeKind = "mode"
	ChangeChild  ChangeKind = "child"
	ChangeAllow  ChangeKind = "allow"
	ChangeForbid ChangeKind = "forbid"
)

// Change is a change of a namespace, with the fields that its kind needs.
type Change struct {
	Kind     ChangeKind `json:"change"`
	Parent   string     `json:"parent,omitempty"`
	Child    string     `json:"child,omitempty"`
	Resource string     `json:"resource,omitempty"`
	Mode     string     `json:"mode,omitempty"`
	// Confirm repeats the name of a namespace to delete.
	Confirm string `json:"confirm,omitempty"`
	// Plan is the digest of the plan that was confirmed.
	Plan string `json:"plan,omitempty"`
}

// Plan is what a change would do.
type Plan struct {
	// Summary is a sentence.
	Summary string                       `json:"summary"`
	Status  v1alpha3.HierarchyPlanStatus `json:"status"`
	// See and Make are the commands that show and make the change.
	See  string `json:"see"`
	Make string `json:"make"`
	// Writable says that the page can make it.
	Writable bool `json:"writable"`
	// Namespace is the namespace that would be changed, Subnamespace what would be deleted.
	Namespace    types.UID `json:"namespace"`
	Subnamespace types.UID `json:"subnamespace,omitempty"`
	// Digest identifies all of the plan.
	Digest string `json:"digest,omitempty"`
}
