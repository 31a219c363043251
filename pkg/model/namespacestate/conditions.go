package namespacestate

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Conditions returns the problems of the namespace's position in the tree, the gravest first; none for a namespace that
// is not part of a hierarchy. Source: docs/spec/hnc.md 3.4.
func Conditions(t *tree.Tree, name string) []metav1.Condition {
	if !t.Active(name) {
		return nil
	}
	var found []metav1.Condition
	if halt := Halted(t, name); halt != nil {
		found = append(found, *halt)
	}
	if t.Orphaned(name) {
		parent := t.Namespace(name).SubnamespaceOf
		missing, hint := "which has no Subnamespace of that name", "create it there"
		if s := t.SubnamespaceRecord(tree.Key{Parent: parent, Name: name}); s != nil && s.Void {
			missing, hint = "whose Subnamespace is void because the namespace was not a sub-namespace", "delete that and create it again"
		}
		found = append(found, metav1.Condition{
			Type:   hnc.ConditionBadConfiguration,
			Reason: hnc.ReasonSubnamespaceMissing,
			Message: fmt.Sprintf("%q is a sub-namespace of %q, %s; %s, or remove the annotation %s from namespace %q to keep it as a full namespace",
				name, parent, missing, hint, hnc.AnnotationSubnamespaceOf, name),
		})
	}
	if ns, h := t.Namespace(name), t.Hierarchy(name); t.External(name) && h != nil && len(h.Abstract) > 0 {
		found = append(found, metav1.Condition{
			Type:   hnc.ConditionBadConfiguration,
			Reason: hnc.ReasonExternalNamespace,
			Message: fmt.Sprintf("namespace %[1]q is managed by %q, so the abstract ancestors in its hierarchy have no effect; "+
				"remove the annotation %s from the namespace, or spec.abstractAncestors from the hierarchy of namespace %[1]q",
				name, ns.ManagedBy, hnc.AnnotationManagedBy),
		})
	}
	found = append(found, sharedNames(t, name)...)
	found = append(found, metadataProblems(t, name)...)
	found = append(found, requiredProblems(t, name)...)
	found = append(found, t.KindConditions(name)...)
	if first, number := t.Held(name, listed); number > 0 {
		found = append(found, heldCopies(name, names.AndMore(first, number, ", ")))
	}
	found = append(found, longNames(t, name)...)
	if why := t.Unwritten(name); why != "" {
		found = append(found, unwritten(name, why))
	}
	for i := range found {
		found[i].Status = metav1.ConditionTrue
	}
	return found
}

// sharedNames returns the condition of a namespace with abstract ancestors that have become the names of namespaces.
func sharedNames(t *tree.Tree, name string) []metav1.Condition {
	shared := t.SharedNames(name)
	if len(shared) == 0 {
		return nil
	}
	return []metav1.Condition{{
		Type:   hnc.ConditionBadConfiguration,
		Reason: hnc.ReasonAbstractNameConflict,
		Message: fmt.Sprintf("abstract ancestors of %q are also names of namespaces: %s, so their tree labels mean both, and below both the nearer one; "+
			"rename one of the two, or allow it by the annotation %s=true of the hierarchy of namespace %q",
			name, strings.Join(shared, ", "), hnc.AnnotationAllowSharedNames, name),
	}}
}

// heldCopies returns the condition of a namespace with deleted copies that finalizers keep. They are still in effect.
func heldCopies(name, held string) metav1.Condition {
	return metav1.Condition{
		Type:   hnc.ConditionOutOfSync,
		Reason: hnc.ReasonFinalizersRemain,
		Message: fmt.Sprintf("copies in namespace %q no longer apply, but finalizers keep them: %s; clear metadata.finalizers of these objects",
			name, held),
	}
}

// longNames returns the condition of a namespace with sources that have no copies, and objects that have no status,
// because of their names.
func longNames(t *tree.Tree, name string) []metav1.Condition {
	var messages []string
	if first, number := t.Uncopied(name, listed); number > 0 {
		messages = append(messages, fmt.Sprintf("objects in namespace %q are not propagated because their names are longer than %d bytes: %s",
			name, names.MaxLength, names.AndMore(first, number, ", ")))
	}
	if first, number := t.Unreported(name, listed); number > 0 {
		messages = append(messages, fmt.Sprintf("objects in namespace %q have no status because their names are longer than %d bytes: %s",
			name, names.MaxLength, names.AndMore(first, number, ", ")))
	}
	if len(messages) == 0 {
		return nil
	}
	return []metav1.Condition{{
		Type: hnc.ConditionOutOfSync, Reason: hnc.ReasonNamesTooLong, Message: strings.Join(messages, "; ") + "; create them under shorter names",
	}}
}

// unwritten returns the condition of a namespace whose labels or annotations are not what they have to be.
func unwritten(name, why string) metav1.Condition {
	return metav1.Condition{
		Type:   hnc.ConditionOutOfSync,
		Reason: hnc.ReasonNamespaceNotWritten,
		Message: fmt.Sprintf("labels or annotations of namespace %q could not be written, and may be those of an earlier tree: %s; "+
			"make room in the labels and annotations of the namespace, or remove what rejects the update", name, names.ShortenText(why)),
	}
}

// listed is how many objects a condition lists.
const listed = 5

// Halted returns the condition of a namespace at or above which activities are halted, nil if there is none.
func Halted(t *tree.Tree, name string) *metav1.Condition {
	at, cause := t.HaltedAt(name)
	if at == "" {
		return nil
	}
	c := &metav1.Condition{Type: hnc.ConditionActivitiesHalted, Reason: string(cause)}
	parent := t.Parent(at)
	switch {
	case at != name:
		c.Reason = hnc.ReasonAncestorHalted
		c.Message = fmt.Sprintf("nothing is propagated to %q because activities are halted at its ancestor %q (%s); see the conditions of the hierarchy in namespace %q",
			name, at, cause, at)
	case cause == forest.InCycle:
		c.Message = fmt.Sprintf("namespace %q is its own ancestor: %s; remove the parent of one of them", name, cyclePath(t.Cycle(name)))
	case cause == forest.ParentMissing:
		c.Message = fmt.Sprintf("parent %q does not exist; create it, or name another parent in the hierarchy of namespace %q", parent, name)
	case cause == forest.IllegalParent:
		c.Message = fmt.Sprintf("parent %q is %s; name another parent in the hierarchy of namespace %q", parent, t.WhyExcluded(parent), name)
	}
	return c
}

func cyclePath(cycle []string) string {
	return strings.Join(append(slices.Clone(cycle), cycle[0]), " <- ")
}
