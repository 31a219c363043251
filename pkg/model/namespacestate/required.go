package namespacestate

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// RequiredChild reports whether a Subnamespace has to be created because the parent requires it, and why that is
// impossible or was rejected. Where nothing may be written, nothing is created either: the parent may be about to be
// deleted.
func RequiredChild(t *tree.Tree, key tree.Key) (due bool, problem string) {
	if !t.Requires(key) || !t.Active(key.Parent) || t.Frozen(key.Parent) {
		return false, ""
	}
	s, ns := t.SubnamespaceRecord(key), t.Namespace(key.Name)
	switch {
	case s != nil && s.Void && !s.Terminating:
		return false, fmt.Sprintf("its Subnamespace has no effect any more and is in the way; delete it: kubectl delete subns %s -n %s", key.Name, key.Parent)
	case s != nil:
		return false, ""
	case t.Excluded(key.Name):
		return false, fmt.Sprintf("namespace %q is %s", key.Name, t.WhyExcluded(key.Name))
	case ns != nil && ns.SubnamespaceOf != key.Parent:
		return false, fmt.Sprintf("namespace %q exists already, and is not a sub-namespace of %q", key.Name, key.Parent)
	case ns != nil && ns.Terminating:
		return false, "" // It is created again when it is gone.
	case ns == nil && t.Parent(key.Name) != "":
		return false, fmt.Sprintf("namespace %q is being created for a Subnamespace in namespace %q", key.Name, t.Parent(key.Name))
	}
	return true, t.Refused(key)
}

// requiredProblems returns a condition for each required child that can't be created.
func requiredProblems(t *tree.Tree, name string) []metav1.Condition {
	h := t.Hierarchy(name)
	if h == nil {
		return nil
	}
	var problems []string
	for _, child := range h.Required {
		if _, problem := RequiredChild(t, tree.Key{Parent: name, Name: child}); problem != "" {
			problems = append(problems, fmt.Sprintf("required child %q can't be created: %s", child, problem))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return []metav1.Condition{{
		Type: hnc.ConditionBadConfiguration, Reason: hnc.ReasonRequiredChildRefused,
		Message: fmt.Sprintf("%s; remove it from spec.requiredChildren of the hierarchy in namespace %q, or make room for it", names.List(problems, listed, "; "), name),
	}}
}
