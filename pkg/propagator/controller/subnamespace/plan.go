package subnamespace

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/conditionmerge"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// action is what a Subnamespace needs.
type action string

const (
	// none waits for other events.
	none action = "None"
	// require creates the Subnamespace itself, because its parent requires it.
	require action = "Require"
	// createNamespace creates the namespace, and populates it.
	createNamespace action = "Create"
	// populate completes an existing namespace: its Hierarchy, its copies, and then the status.
	populate action = "Populate"
	// report writes the status only.
	report action = "Report"
	// void marks the Subnamespace as void, after the namespace has got a Hierarchy if setParent is set.
	void action = "Void"
	// deleteNamespace deletes the namespace.
	deleteNamespace action = "Delete"
	// release removes our finalizer; the namespace stays as it is.
	release action = "Release"
)

// plan is what to do for a Subnamespace.
type plan struct {
	action action
	// markParent reports that the parent needs the label that protects it from being deleted, and our finalizer, before
	// anything else.
	markParent bool
	// namespace is the namespace to create.
	namespace *corev1.Namespace
	// uid is that of the namespace to delete, as the cache has it.
	uid types.UID
	// recordCascading reports that this namespace needs the label that says that cascading deletion is allowed, before
	// it is deleted: the Hierarchies that say so may be gone before the namespaces below it are considered.
	recordCascading bool
	// setParent reports that the Hierarchy of the namespace has to be created with the parent, or has to get it.
	setParent bool
	// setMetadata reports that the Hierarchy has to get the labels and annotations of the Subnamespace.
	setMetadata bool
	// creator is the RoleBinding of the requester in the namespace, nil if none is due.
	creator *rbacv1.RoleBinding
	// unlimited reports that the limits above the namespace are not known to be in force in it, so that nobody may get
	// permissions there.
	unlimited bool
	// status is the status to write; after createNamespace and populate once everything else is done.
	status v1beta1.SubnamespaceStatus
}

// planFor returns what to do for a Subnamespace. Source: docs/spec/hnc.md 3.5 and 3.6.
func planFor(t *tree.Tree, key tree.Key, now metav1.Time) plan {
	s := t.SubnamespaceRecord(key)
	switch {
	case s == nil:
		if due, _ := namespacestate.RequiredChild(t, key); due {
			return plan{action: require}
		}
		return planDetached(t, key)
	case goes(t, s):
		return planDeletion(t, s)
	case s.Void:
		return reportVoid(t, s, now)
	case t.Subnamespace(key) == nil:
		// It belongs to an earlier namespace of its parent's name, and has no effect.
		return plan{action: none}
	}
	parent := t.Namespace(key.Parent)
	if parent == nil {
		return plan{action: none}
	}
	excluded := t.Excluded(key.Parent) || t.Excluded(key.Name)
	// The Hierarchy of an excluded namespace can't get a parent.
	if voiding := planVoiding(t, s); t.BecomesVoid(s) && (!excluded || !voiding.setParent) {
		return voiding
	}
	if excluded {
		return planExcluded(t, s, now)
	}
	ns := t.Namespace(key.Name)
	if ns == nil {
		return planCreate(t, s, parent, now)
	}
	if ns.SubnamespaceOf != key.Parent {
		return reportOnly(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict, conflictMessage(ns, key), now)
	}
	if other := t.Parent(key.Name); other != key.Parent {
		return reportOnly(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict,
			fmt.Sprintf("namespace %q is a sub-namespace of %q, but its hierarchy names the parent %q; set spec.parent of the hierarchy in namespace %q to %q",
				key.Name, key.Parent, other, key.Name, key.Parent), now)
	}
	if ns.Terminating {
		return reportOnly(t, s, v1beta1.SubnamespaceOk, hnc.ReasonNamespaceTerminating,
			fmt.Sprintf("namespace %q is being deleted, and will be created again when it is gone; delete this Subnamespace if that is not wanted", key.Name), now)
	}
	return planPopulate(t, s, now)
}

// planExcluded plans for a Subnamespace whose namespace or parent is excluded. One in conflict stays in conflict:
// planCreate relies on it.
func planExcluded(t *tree.Tree, s *tree.Subnamespace, now metav1.Time) plan {
	excluded := s.Name
	if t.Excluded(s.Parent) {
		excluded = s.Parent
	}
	state := v1beta1.SubnamespaceForbidden
	if s.Status.State == v1beta1.SubnamespaceConflict {
		state = v1beta1.SubnamespaceConflict
	}
	return reportOnly(t, s, state, hnc.ReasonNamespaceForbidden,
		fmt.Sprintf("namespace %q is %s; delete this Subnamespace", excluded, t.WhyExcluded(excluded)), now)
}

// reportVoid plans for a void Subnamespace. It reports what is in its way as if it were not void.
func reportVoid(t *tree.Tree, s *tree.Subnamespace, now metav1.Time) plan {
	ns := t.Namespace(s.Name)
	switch {
	case t.Excluded(s.Parent), t.Excluded(s.Name):
		return planExcluded(t, s, now)
	case ns != nil && ns.SubnamespaceOf != s.Parent && t.Parent(s.Name) != s.Parent:
		return reportOnly(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict, conflictMessage(ns, s.Key), now)
	}
	return reportOnly(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConverted,
		fmt.Sprintf("namespace %q was converted to a full namespace, was created by somebody else, or was gone when hierarchies were restored, "+
			"so this Subnamespace has no effect; delete it, and create it again to have a sub-namespace of that name", s.Name), now)
}

// planVoiding plans for a Subnamespace that becomes void. A converted namespace keeps its parent.
func planVoiding(t *tree.Tree, s *tree.Subnamespace) plan {
	h := t.Hierarchy(s.Name)
	return plan{action: void, setParent: t.Namespace(s.Name) != nil && (h == nil || h.Parent == "") && t.Parent(s.Name) == s.Parent}
}

func planCreate(t *tree.Tree, s *tree.Subnamespace, parent *tree.Namespace, now metav1.Time) plan {
	if t.Parent(s.Name) != s.Parent {
		// Another Subnamespace of that name is older, and its namespace is about to be created.
		return reportOnly(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict,
			fmt.Sprintf("namespace %q is being created for a Subnamespace in namespace %q; delete this Subnamespace, or that one", s.Name, t.Parent(s.Name)), now)
	}
	if children := len(t.Children(s.Name)); children > 0 && s.Status.State == v1beta1.SubnamespaceConflict {
		// They were the children of another namespace. No request to move them below this one was authorized.
		return reportOnly(t, s, v1beta1.SubnamespaceConflict, hnc.ReasonNamespaceConflict,
			fmt.Sprintf("namespace %q, which was somebody else's, does not exist any more but is the parent of %d existing namespace(s); "+
				"delete this Subnamespace, and create it again as an admin of these", s.Name, children), now)
	}
	// Users with permissions in it would have them without the inherited policy.
	if t.Frozen(s.Parent) {
		reason, message := hnc.ReasonNamespaceTerminating, fmt.Sprintf("namespace %q is created when no ancestor of namespace %q is being deleted any more", s.Name, s.Parent)
		if halt := namespacestate.Halted(t, s.Name); halt != nil {
			reason, message = halt.Reason, halt.Message
		}
		return reportOnly(t, s, v1beta1.SubnamespaceMissing, reason, message, now)
	}
	annotations := namespacestate.ManagedAnnotations(t, s.Name)
	annotations[hnc.AnnotationSubnamespaceOf] = s.Parent
	annotations[hnc.AnnotationAncestry] = namespacestate.Ancestry(t, s.Name)
	if abstract := namespacestate.AbstractAncestors(t, s.Name); abstract != "" {
		annotations[hnc.AnnotationAbstractAncestors] = abstract
	}
	if recorded := namespacestate.EncodeLabels(namespacestate.InheritedPodSecurity(t, s.Name)); recorded != "" {
		annotations[hnc.AnnotationInheritedPodSecurity] = recorded
	}
	creator := creatorBinding(t, s, now)
	if creator != nil {
		annotations[hnc.AnnotationCreatorPending] = string(s.UID)
	}
	return plan{
		action:     createNamespace,
		markParent: parent.Labels[hnc.LabelHasSubnamespaces] != "true" || !parent.VanishesLast,
		namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:        s.Name,
			Labels:      namespacestate.Labels(t, s.Name),
			Annotations: annotations,
		}},
		setParent: true,
		creator:   creator,
		status:    usable(t, s, now),
	}
}

// planPopulate plans for a namespace that exists below the right parent. A Subnamespace that became ready stays ready:
// later problems of the tree are reported by the conditions of the namespace's Hierarchy.
func planPopulate(t *tree.Tree, s *tree.Subnamespace, now metav1.Time) plan {
	h := t.Hierarchy(s.Name)
	setParent := h == nil || h.Parent == ""
	setMetadata := h != nil && !h.Metadata.Equal(s.Metadata)
	var creator *rbacv1.RoleBinding
	if t.Namespace(s.Name).CreatorPending == s.UID && !t.Frozen(s.Name) {
		creator = creatorBinding(t, s, now)
	}
	status := usable(t, s, now)
	ready := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
	wasReady := s.Status.State == v1beta1.SubnamespaceOk && ready != nil && ready.Status == metav1.ConditionTrue &&
		ready.ObservedGeneration == s.Generation
	unlimited := t.LimitsPending(s.Name)
	if !setParent && !setMetadata && creator == nil && !unlimited {
		if wasReady {
			status = newStatus(t, s, v1beta1.SubnamespaceOk, *ready, now)
		}
		switch {
		case sameStatus(status, s.Status):
			return plan{action: none}
		case wasReady:
			return plan{action: report, status: status}
		}
	}
	return plan{action: populate, setParent: setParent, setMetadata: setMetadata, creator: creator, unlimited: unlimited, status: status}
}

// usable returns the status of a Subnamespace whose namespace is complete.
func usable(t *tree.Tree, s *tree.Subnamespace, now metav1.Time) v1beta1.SubnamespaceStatus {
	if halt := namespacestate.Halted(t, s.Name); halt != nil {
		return unready(t, s, v1beta1.SubnamespaceOk, halt.Reason, halt.Message, now)
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

// unready returns the status of a Subnamespace that is not ready for the given reason.
func unready(t *tree.Tree, s *tree.Subnamespace, state v1beta1.SubnamespaceState, reason, message string, now metav1.Time) v1beta1.SubnamespaceStatus {
	return newStatus(t, s, state, metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: message}, now)
}

func newStatus(t *tree.Tree, s *tree.Subnamespace, state v1beta1.SubnamespaceState, ready metav1.Condition, now metav1.Time) v1beta1.SubnamespaceStatus {
	ready.Type = hnc.ConditionReady
	return v1beta1.SubnamespaceStatus{
		ObservedGeneration: s.Generation, State: state,
		Conditions: conditionmerge.Merge(s.Status.Conditions, append(requirement(t, s), ready), s.Generation, now),
	}
}

func reportOnly(t *tree.Tree, s *tree.Subnamespace, state v1beta1.SubnamespaceState, reason, message string, now metav1.Time) plan {
	status := unready(t, s, state, reason, message, now)
	if sameStatus(status, s.Status) {
		return plan{action: none}
	}
	return plan{action: report, status: status}
}

// sameStatus reports whether two statuses are equivalent.
func sameStatus(a, b v1beta1.SubnamespaceStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && a.State == b.State && conditionmerge.Same(a.Conditions, b.Conditions)
}
