package namespaces

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/conditions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Action is what a Subnamespace needs.
type Action string

const (
	// Leave says that nothing is to be done, or that something else has to happen first.
	Leave Action = "Leave"
	// Require says that the Subnamespace itself is to be created, because its parent requires it.
	Require Action = "Require"
	// Create says that the namespace is to be created, then as Settle.
	Create Action = "Create"
	// Settle says that the namespace exists, and needs its Hierarchy, its copies, and then the status.
	Settle Action = "Settle"
	// Report says that the status is to be written, and nothing else.
	Report Action = "Report"
	// Void says that the Subnamespace is to be marked as void, after the namespace has got a Hierarchy if SetParent says so.
	Void Action = "Void"
	// Delete says that the namespace is to be deleted.
	Delete Action = "Delete"
	// Release says that our finalizer is to be removed; the namespace stays as it is.
	Release Action = "Release"
)

// Plan is what to do for a Subnamespace.
type Plan struct {
	Action Action
	// MarkParent says that, first of all, the parent needs the label that protects it from being deleted.
	MarkParent bool
	// Namespace is the namespace to create.
	Namespace *corev1.Namespace
	// UID and ResourceVersion are those of the namespace to delete: as it was seen, and not as it is now perhaps.
	UID             types.UID
	ResourceVersion string
	// SetParent says that the Hierarchy of the namespace has to be created with the parent, or has to get it.
	SetParent bool
	// SetMetadata says that the Hierarchy has to get the labels and annotations of the Subnamespace.
	SetMetadata bool
	// Creator is the RoleBinding that the requester gets in the namespace, nil if none is due.
	Creator *rbacv1.RoleBinding
	// Status is the status to write; after Create and Settle once everything else is done.
	Status v1beta1.SubnamespaceStatus
}

// Subnamespace returns what to do for a Subnamespace. Source: spec/hnc.md 3.5 and 3.6.
func Subnamespace(t *tree.Tree, key tree.Key, now metav1.Time) Plan {
	s := t.SubnamespaceRecord(key)
	switch {
	case s == nil:
		if due, _ := missing(t, key); due {
			return Plan{Action: Require}
		}
		return Plan{Action: Leave}
	case s.Terminating:
		return terminating(t, s)
	case s.Void:
		return report(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConverted,
			fmt.Sprintf("namespace %q was converted to a full namespace, so this Subnamespace has no effect; delete it, and create it again to have a sub-namespace of that name", key.Name), now)
	case t.Subnamespace(key) == nil:
		// It belongs to an earlier namespace of its parent's name, and counts for nothing.
		return Plan{Action: Leave}
	}
	parent := t.Namespace(key.Parent)
	if parent == nil || parent.Terminating {
		return Plan{Action: Leave}
	}
	if t.Excluded(key.Parent) || t.Excluded(key.Name) {
		excluded := key.Name
		if t.Excluded(key.Parent) {
			excluded = key.Parent
		}
		return report(t, s, v1beta1.SubnamespaceForbidden, hnc.ReasonNamespaceForbidden,
			fmt.Sprintf("namespace %q is %s; delete this Subnamespace", excluded, t.WhyExcluded(excluded)), now)
	}
	ns := t.Namespace(key.Name)
	if t.Converted(s) {
		return convert(t, s)
	}
	if ns == nil {
		return create(t, s, parent, now)
	}
	if ns.SubnamespaceOf != key.Parent {
		return report(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict, conflictMessage(ns, key), now)
	}
	if other := t.Parent(key.Name); other != key.Parent {
		return report(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict,
			fmt.Sprintf("namespace %q is a sub-namespace of %q, but its hierarchy names the parent %q; set spec.parent of the hierarchy in namespace %q to %q",
				key.Name, key.Parent, other, key.Name, key.Parent), now)
	}
	if ns.Terminating {
		return report(t, s, v1beta1.SubnamespaceOk, hnc.ReasonNamespaceTerminating,
			fmt.Sprintf("namespace %q is being deleted, and will be created again when it is gone; delete this Subnamespace if that is not wanted", key.Name), now)
	}
	return settle(t, s, now)
}

// convert is for a Subnamespace whose namespace was converted. The namespace keeps its place.
func convert(t *tree.Tree, s *tree.Subnamespace) Plan {
	h := t.Hierarchy(s.Name)
	return Plan{Action: Void, SetParent: t.Namespace(s.Name) != nil && (h == nil || h.Parent == "") && t.Parent(s.Name) == s.Parent}
}

func create(t *tree.Tree, s *tree.Subnamespace, parent *tree.Namespace, now metav1.Time) Plan {
	if t.Parent(s.Name) != s.Parent {
		// Another Subnamespace of that name is older, and its namespace is about to be created.
		return report(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict,
			fmt.Sprintf("namespace %q is being created for a Subnamespace in namespace %q; delete this Subnamespace, or that one", s.Name, t.Parent(s.Name)), now)
	}
	if children := len(t.Children(s.Name)); children > 0 && s.Status.State == v1beta1.SubnamespaceConflict {
		// They were the children of another namespace, and nobody has been asked whether they may come below this one.
		return report(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict,
			fmt.Sprintf("namespace %q, which was somebody else's, does not exist any more but is the parent of %d existing namespace(s); "+
				"delete this Subnamespace, and create it again as an admin of these", s.Name, children), now)
	}
	annotations := managedAnnotations(t, s.Name)
	annotations[hnc.AnnotationSubnamespaceOf] = s.Parent
	annotations[hnc.AnnotationAncestry] = ancestry(t, s.Name)
	if recorded := encodeLabels(inheritedPodSecurity(t, s.Name)); recorded != "" {
		annotations[hnc.AnnotationInheritedPodSecurity] = recorded
	}
	creator := creatorBinding(t, s)
	if creator != nil {
		annotations[hnc.AnnotationCreatorPending] = string(s.UID)
	}
	return Plan{
		Action:     Create,
		MarkParent: parent.Labels[hnc.LabelHasSubnamespaces] != yes,
		Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:        s.Name,
			Labels:      Labels(t, s.Name),
			Annotations: annotations,
		}},
		SetParent: true,
		Creator:   creator,
		Status:    usable(t, s, now),
	}
}

// settle is for a namespace that exists where it should. A Subnamespace that became ready stays ready: what is wrong with
// the tree afterwards is told by the conditions of the namespace's Hierarchy.
func settle(t *tree.Tree, s *tree.Subnamespace, now metav1.Time) Plan {
	h := t.Hierarchy(s.Name)
	setParent := h == nil || h.Parent == ""
	setMetadata := h != nil && !h.Metadata.Equal(s.Metadata)
	var creator *rbacv1.RoleBinding
	if t.Namespace(s.Name).CreatorPending == s.UID {
		creator = creatorBinding(t, s)
	}
	status := usable(t, s, now)
	ready := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
	wasReady := s.Status.State == v1beta1.SubnamespaceOk && ready != nil && ready.Status == metav1.ConditionTrue &&
		ready.ObservedGeneration == s.Generation
	if !setParent && !setMetadata && creator == nil {
		if wasReady {
			status = newStatus(t, s, v1beta1.SubnamespaceOk, *ready, now)
		}
		switch {
		case SameStatus(status, s.Status):
			return Plan{Action: Leave}
		case wasReady:
			return Plan{Action: Report, Status: status}
		}
	}
	return Plan{Action: Settle, SetParent: setParent, SetMetadata: setMetadata, Creator: creator, Status: status}
}

// usable returns the status of a Subnamespace whose namespace is complete.
func usable(t *tree.Tree, s *tree.Subnamespace, now metav1.Time) v1beta1.SubnamespaceStatus {
	if halt := halted(t, s.Name); halt != nil {
		return Unready(t, s, v1beta1.SubnamespaceOk, halt.Reason, halt.Message, now)
	}
	return newStatus(t, s, v1beta1.SubnamespaceOk, metav1.Condition{
		Status: metav1.ConditionTrue, Reason: hnc.ReasonReady,
		Message: fmt.Sprintf("namespace %q exists, and has all that it inherits", s.Name),
	}, now)
}

func conflictMessage(ns *tree.Namespace, key tree.Key) string {
	if ns.ManagedBy != "" {
		return fmt.Sprintf("namespace %q exists and is managed by %q, so it can't have a parent; delete this Subnamespace and choose another name", key.Name, ns.ManagedBy)
	}
	if ns.SubnamespaceOf == "" {
		return fmt.Sprintf("namespace %q exists and is not a sub-namespace; delete this Subnamespace and choose another name, or make namespace %q a child of %q by its own hierarchy",
			key.Name, key.Name, key.Parent)
	}
	return fmt.Sprintf("namespace %q exists as a sub-namespace of %q; delete this Subnamespace and choose another name", key.Name, ns.SubnamespaceOf)
}

// Unready returns the status of a Subnamespace that is not ready for the given reason.
func Unready(t *tree.Tree, s *tree.Subnamespace, state v1beta1.SubnamespaceState, reason, message string, now metav1.Time) v1beta1.SubnamespaceStatus {
	return newStatus(t, s, state, metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: message}, now)
}

func newStatus(t *tree.Tree, s *tree.Subnamespace, state v1beta1.SubnamespaceState, ready metav1.Condition, now metav1.Time) v1beta1.SubnamespaceStatus {
	ready.Type = hnc.ConditionReady
	return v1beta1.SubnamespaceStatus{
		State:      state,
		Conditions: conditions.Merge(s.Status.Conditions, append(requirement(t, s), ready), s.Generation, now),
	}
}

func report(t *tree.Tree, s *tree.Subnamespace, state v1beta1.SubnamespaceState, reason, message string, now metav1.Time) Plan {
	status := Unready(t, s, state, reason, message, now)
	if SameStatus(status, s.Status) {
		return Plan{Action: Leave}
	}
	return Plan{Action: Report, Status: status}
}

// SameStatus says whether two statuses tell the same.
func SameStatus(a, b v1beta1.SubnamespaceStatus) bool {
	return a.State == b.State && conditions.Same(a.Conditions, b.Conditions)
}
