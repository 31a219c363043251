package namespaces

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/conditions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// StatusWrite is what has to be written so that a Hierarchy's status is right.
type StatusWrite struct {
	// Create says that the Hierarchy is missing and has to be created, with Parent as its spec.parent, and with Metadata.
	Create   bool
	Parent   string
	Metadata tree.Metadata
	// Hierarchy is the present record, nil when Create is set.
	Hierarchy *tree.Hierarchy
	// Bind says that the record has to be bound to its namespace.
	Bind bool
	// Status takes the place of the present status.
	Status v1beta1.HierarchyStatus
	// OnlyChildren says that the conditions stay as they are.
	OnlyChildren bool
}

// Status returns what to write so that the status of the namespace's Hierarchy is right, nil if nothing. A namespace that has no
// Hierarchy gets one only if there is something to tell: it has children or a problem.
func Status(t *tree.Tree, name string, now metav1.Time) *StatusWrite {
	h := t.Hierarchy(name)
	if !t.Active(name) {
		return inactive(t, h, name, now)
	}
	children := t.Children(name)
	found := Problems(t, name)
	if h == nil {
		if t.HierarchyRecord(name) != nil || (len(children) == 0 && len(found) == 0) {
			return nil
		}
		// Without a Hierarchy only a Subnamespace gives a parent.
		return &StatusWrite{Create: true, Parent: t.Parent(name), Metadata: t.Metadata(name)}
	}
	status := v1beta1.HierarchyStatus{
		Children:   children,
		Conditions: conditions.Merge(h.Status.Conditions, append(found, summary(found)), h.Generation, now),
	}
	same := conditions.Same(status.Conditions, h.Status.Conditions)
	if same && slices.Equal(status.Children, h.Status.Children) && !h.Misbound {
		return nil
	}
	return &StatusWrite{Hierarchy: h, Bind: h.Misbound, Status: status, OnlyChildren: same}
}

// inactive is for a namespace that takes no part: if it is excluded and has a Hierarchy nevertheless, that one tells so.
func inactive(t *tree.Tree, h *tree.Hierarchy, name string, now metav1.Time) *StatusWrite {
	if h == nil || t.Namespace(name).Terminating {
		return nil
	}
	status := v1beta1.HierarchyStatus{Conditions: conditions.Merge(h.Status.Conditions, []metav1.Condition{{
		Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: hnc.ReasonNamespaceExcluded,
		Message: fmt.Sprintf("namespace %q is %s; this hierarchy has no effect", name, t.WhyExcluded(name)),
	}}, h.Generation, now)}
	if len(h.Status.Children) == 0 && conditions.Same(status.Conditions, h.Status.Conditions) {
		return nil
	}
	return &StatusWrite{Hierarchy: h, Status: status}
}

func summary(found []metav1.Condition) metav1.Condition {
	if len(found) == 0 {
		return hnc.ReadyCondition()
	}
	return metav1.Condition{
		Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: found[0].Reason, Message: found[0].Message,
	}
}
