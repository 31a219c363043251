package v1alpha2

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// precedence holds the reasons for which HNC has a condition, in the order in which a later one took the place of an
// earlier one of its type. Reasons that HNC does not know come before all of them. Source: spec/hnc.md 3.4.
var precedence = []string{
	hnc.ReasonAncestorHalted,
	hnc.ReasonIllegalParent,
	hnc.ReasonParentMissing,
	hnc.ReasonInCycle,
	hnc.ReasonSubnamespaceMissing,
	hnc.ReasonIllegalManagedLabel,
	hnc.ReasonIllegalManagedAnnotation,
	// As reasons of NamespaceCondition, whose order HNC leaves to chance: the graver one stays. Source: spec/hnc.md 3.12.
	hnc.ConditionBadConfiguration,
	hnc.ConditionActivitiesHalted,
}

// onePerType returns the conditions as HNC shows them: of each type the one that it would have set last, in the place of
// the first of that type.
func onePerType(conditions []metav1.Condition) []metav1.Condition {
	if conditions == nil {
		return nil
	}
	kept := make([]metav1.Condition, 0, len(conditions))
	for _, c := range conditions {
		i := slices.IndexFunc(kept, func(k metav1.Condition) bool { return k.Type == c.Type })
		switch {
		case i < 0:
			kept = append(kept, c)
		case rank(c) > rank(kept[i]):
			kept[i] = c
		}
	}
	return kept
}

func rank(c metav1.Condition) int { return slices.Index(precedence, c.Reason) }

// oneSummary returns the conditions of a configuration as HNC shows them: as onePerType does, and what a NamespaceCondition tells of
// several reasons is cut to that of the first.
func oneSummary(conditions []metav1.Condition) []metav1.Condition {
	kept := onePerType(conditions)
	for i := range kept {
		if c := &kept[i]; c.Type == hnc.ConditionNamespace {
			c.Message, _, _ = strings.Cut(c.Message, hnc.NamespaceConditionSeparator)
		}
	}
	return kept
}
