package hierarchy

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/conditionmerge"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// StatusPlan is what to write for a Hierarchy.
type StatusPlan struct {
	// Create asks for a missing Hierarchy, with the parent and the metadata.
	Create   bool
	Parent   string
	Metadata tree.Metadata
	// Hierarchy is the present record, nil if Create is set.
	Hierarchy *tree.Hierarchy
	// Bind asks to bind the record to its namespace.
	Bind bool
	// Status replaces the present status.
	Status v1beta1.HierarchyStatus
	// OnlyChildren reports that the conditions stay the same.
	OnlyChildren bool
}

// Plan returns what to write for a namespace's Hierarchy, nil if nothing. A namespace without a Hierarchy gets one only
// if it has children or conditions to report.
func Plan(t *tree.Tree, name string, now metav1.Time) *StatusPlan {
	h := t.Hierarchy(name)
	if !t.Active(name) {
		return inactive(t, h, name, now)
	}
	children := shownChildren(t, name)
	found := namespacestate.Conditions(t, name)
	if h == nil {
		if t.HierarchyRecord(name) != nil || (len(children) == 0 && len(found) == 0) {
			return nil
		}
		// Without a Hierarchy only a Subnamespace gives a parent.
		return &StatusPlan{Create: true, Parent: t.Parent(name), Metadata: t.Metadata(name)}
	}
	status := newStatus(h, append(found, ready(found)), now)
	status.Children = children
	same := sameConditions(status, h.Status)
	if same && slices.Equal(status.Children, h.Status.Children) && !h.Misbound {
		return nil
	}
	return &StatusPlan{Hierarchy: h, Bind: h.Misbound, Status: status, OnlyChildren: same}
}

// shownChildren returns the children of a namespace that its status lists. A namespace that is being deleted is a child
// until its Hierarchy is gone, as in HNC, whose plugin prints what the status lists. Source: docs/spec/hnc.md 3.6.
func shownChildren(t *tree.Tree, name string) []string {
	return slices.DeleteFunc(t.Children(name), func(child string) bool { return t.Namespace(child).Terminating && t.Hierarchy(child) == nil })
}

// inactive plans for a namespace that takes no part in hierarchies: if it is excluded but has a Hierarchy, that reports
// it.
func inactive(t *tree.Tree, h *tree.Hierarchy, name string, now metav1.Time) *StatusPlan {
	if h == nil || t.Namespace(name).Terminating {
		return nil
	}
	status := newStatus(h, []metav1.Condition{{
		Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: hnc.ReasonNamespaceExcluded,
		Message: fmt.Sprintf("namespace %q is %s; this hierarchy has no effect", name, t.WhyExcluded(name)),
	}}, now)
	if len(h.Status.Children) == 0 && sameConditions(status, h.Status) {
		return nil
	}
	return &StatusPlan{Hierarchy: h, Status: status}
}

// newStatus returns the status of a Hierarchy without its children. Several of the wanted conditions may have the same
// type.
func newStatus(h *tree.Hierarchy, wanted []metav1.Condition, now metav1.Time) v1beta1.HierarchyStatus {
	status := v1beta1.HierarchyStatus{ObservedGeneration: h.Generation}
	detailed := conditionmerge.Merge(h.Status.Details(), wanted, h.Generation, now)
	status.Conditions, status.Problems = conditionmerge.Summarize(detailed, h.Status.Conditions)
	return status
}

// sameConditions reports whether two statuses are equivalent except for the children.
func sameConditions(a, b v1beta1.HierarchyStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && conditionmerge.Same(a.Conditions, b.Conditions) &&
		equality.Semantic.DeepEqual(a.Problems, b.Problems)
}

// ready returns the condition Ready of a namespace with the given other conditions.
func ready(found []metav1.Condition) metav1.Condition {
	if len(found) == 0 {
		return hnc.ReadyCondition()
	}
	return metav1.Condition{
		Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: found[0].Reason, Message: found[0].Message,
	}
}
