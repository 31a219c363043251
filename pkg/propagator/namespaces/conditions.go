package namespaces

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// problems returns what is wrong with the namespace's place in the tree, the gravest first. Source: spec/hnc.md 3.4.
func problems(t *tree.Tree, name string) []metav1.Condition {
	var found []metav1.Condition
	if halt := halted(t, name); halt != nil {
		found = append(found, *halt)
	}
	if t.Orphaned(name) {
		parent := t.Namespace(name).SubnamespaceOf
		found = append(found, metav1.Condition{
			Type:   hnc.ConditionBadConfiguration,
			Reason: hnc.ReasonSubnamespaceMissing,
			Message: fmt.Sprintf("%q is a sub-namespace of %q, which has no Subnamespace of that name; create it there, or remove the annotation %s from namespace %q to keep it as a full namespace",
				name, parent, hnc.AnnotationSubnamespaceOf, name),
		})
	}
	if ns, h := t.Namespace(name), t.Hierarchy(name); ns.ManagedBy != "" && h != nil && h.Parent != "" {
		found = append(found, metav1.Condition{
			Type:   hnc.ConditionBadConfiguration,
			Reason: hnc.ReasonExternalNamespace,
			Message: fmt.Sprintf("namespace %q is managed by %q and can't have a parent, so %q is not; remove the parent from the hierarchy of namespace %q, or the annotation %s from the namespace",
				name, ns.ManagedBy, h.Parent, name, hnc.AnnotationManagedBy),
		})
	}
	found = append(found, metadataProblems(t, name)...)
	for i := range found {
		found[i].Status = metav1.ConditionTrue
	}
	return found
}

// halted returns the condition of a namespace at or above which activities are halted, nil if there is none.
func halted(t *tree.Tree, name string) *metav1.Condition {
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

// merge returns the conditions that take the place of old: those of wanted, with the transition time of the old ones
// whose status is the same. There may be several of one type: then each is compared with that of the same reason.
func merge(old, wanted []metav1.Condition, generation int64, now metav1.Time) []metav1.Condition {
	merged := make([]metav1.Condition, len(wanted))
	for i, c := range wanted {
		c.ObservedGeneration = generation
		c.LastTransitionTime = now
		o := find(old, c)
		if o == nil && count(wanted, c.Type) == 1 && count(old, c.Type) == 1 {
			o = meta.FindStatusCondition(old, c.Type)
		}
		if o != nil && o.Status == c.Status {
			c.LastTransitionTime = o.LastTransitionTime
		}
		merged[i] = c
	}
	// Of one type, the gravest stays first.
	slices.SortStableFunc(merged, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return merged
}

// find returns the condition of c's type and reason, nil if there is none.
func find(conditions []metav1.Condition, c metav1.Condition) *metav1.Condition {
	i := slices.IndexFunc(conditions, func(o metav1.Condition) bool { return o.Type == c.Type && o.Reason == c.Reason })
	if i < 0 {
		return nil
	}
	return &conditions[i]
}

func count(conditions []metav1.Condition, kind string) int {
	n := 0
	for _, c := range conditions {
		if c.Type == kind {
			n++
		}
	}
	return n
}

// sameConditions compares as sets: the order of a list that is a map means nothing.
func sameConditions(a, b []metav1.Condition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		o := find(b, a[i])
		if o == nil || !equality.Semantic.DeepEqual(a[i], *o) {
			return false
		}
	}
	return true
}
