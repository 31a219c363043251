package v1alpha2

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// precedence lists HNC's reasons of conditions. For each type, HNC kept the last one in this order. Other reasons
// come before all of them. Source: docs/spec/hnc.md 3.4.
var precedence = []string{
	hnc.ReasonAncestorHalted,
	hnc.ReasonIllegalParent,
	hnc.ReasonParentMissing,
	hnc.ReasonInCycle,
	hnc.ReasonSubnamespaceMissing,
	hnc.ReasonIllegalManagedLabel,
	hnc.ReasonIllegalManagedAnnotation,
	// As reasons of NamespaceCondition, whose order was random in HNC: the most severe one is kept. Source:
	// docs/spec/hnc.md 3.12.
	hnc.ConditionBadConfiguration,
	hnc.ConditionActivitiesHalted,
}

// Types of HNC's conditions. Source: docs/spec/hnc.md 3.4, 3.12.
var (
	namespaceTypes     = []string{hnc.ConditionActivitiesHalted, hnc.ConditionBadConfiguration}
	configurationTypes = []string{hnc.ConditionBadConfiguration, hnc.ConditionOutOfSync, hnc.ConditionNamespace}
)

// onePerType returns the conditions as HNC showed them: only the given types, and for each type the condition with
// the highest precedence, in the position of the first of that type.
func onePerType(conditions []metav1.Condition, types []string) []metav1.Condition {
	var kept []metav1.Condition
	for _, c := range conditions {
		if !slices.Contains(types, c.Type) {
			continue
		}
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

// oneSummary returns the conditions of a configuration as HNC showed them: like onePerType, without
// NamespaceConditions of types that HNC's namespaces do not have, and with only the first reason in the message of a
// NamespaceCondition.
func oneSummary(conditions []metav1.Condition) []metav1.Condition {
	kept := onePerType(slices.DeleteFunc(slices.Clone(conditions), func(c metav1.Condition) bool {
		return c.Type == hnc.ConditionNamespace && !slices.Contains(namespaceTypes, c.Reason)
	}), configurationTypes)
	for i := range kept {
		if c := &kept[i]; c.Type == hnc.ConditionNamespace {
			c.Message, _, _ = strings.Cut(c.Message, hnc.NamespaceConditionSeparator)
		}
	}
	return kept
}
