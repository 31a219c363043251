package v1alpha2

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestOneConditionPerType(t *testing.T) {
	for name, test := range map[string]struct{ given, want string }{
		"CASE-7 none":                            {"", ""},
		"CASE-7 one of each":                     {"ActivitiesHalted=InCycle BadConfiguration=IllegalManagedLabel Ready=InCycle", "ActivitiesHalted=InCycle BadConfiguration=IllegalManagedLabel"},
		"CASE-7 types that HNC does not have":    {"Ready=Ready OutOfSync=Unknown BadConfiguration=IllegalManagedLabel Later=New", "BadConfiguration=IllegalManagedLabel"},
		"CASE-7 AnchorMissing < label":           {"BadConfiguration=SubnamespaceAnchorMissing BadConfiguration=IllegalManagedLabel", "BadConfiguration=IllegalManagedLabel"},
		"CASE-7 label < annotation":              {"BadConfiguration=IllegalManagedLabel BadConfiguration=IllegalManagedAnnotation", "BadConfiguration=IllegalManagedAnnotation"},
		"CASE-7 the order of the list is none":   {"BadConfiguration=IllegalManagedAnnotation BadConfiguration=IllegalManagedLabel", "BadConfiguration=IllegalManagedAnnotation"},
		"CASE-7 ParentMissing < InCycle":         {"ActivitiesHalted=InCycle ActivitiesHalted=ParentMissing", "ActivitiesHalted=InCycle"},
		"CASE-7 what HNC does not know is last":  {"BadConfiguration=ManagedLabelConflict BadConfiguration=SubnamespaceAnchorMissing", "BadConfiguration=SubnamespaceAnchorMissing"},
		"CASE-7 of those the gravest":            {"BadConfiguration=ExternalNamespace BadConfiguration=ManagedLabelConflict", "BadConfiguration=ExternalNamespace"},
		"CASE-7 the position is the first one's": {"BadConfiguration=IllegalManagedLabel ActivitiesHalted=InCycle BadConfiguration=IllegalManagedAnnotation", "BadConfiguration=IllegalManagedAnnotation ActivitiesHalted=InCycle"},
	} {
		t.Run(name, func(t *testing.T) {
			stored := &hnc.Hierarchy{}
			for _, word := range strings.Fields(test.given) {
				kind, reason, _ := strings.Cut(word, "=")
				stored.Status.Conditions = append(stored.Status.Conditions, metav1.Condition{Type: kind, Reason: reason})
			}
			before := len(stored.Status.Conditions)
			shown := hierarchyFromHub(stored)
			var words []string
			for _, c := range shown.Status.Conditions {
				words = append(words, c.Type+"="+c.Reason)
			}
			if got := strings.Join(words, " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if len(stored.Status.Conditions) != before || (before > 0 && stored.Status.Conditions[0].Reason != strings.SplitN(strings.Fields(test.given)[0], "=", 2)[1]) {
				t.Error("the stored object was changed")
			}
		})
	}
}

func TestCase7OneNamespaceCondition(t *testing.T) {
	halted := metav1.Condition{Type: hnc.ConditionNamespace, Reason: hnc.ConditionActivitiesHalted, Message: `Namespaces "a" is affected by "ParentMissing"; Namespaces "b" is affected by "AncestorHaltActivities"`}
	bad := metav1.Condition{Type: hnc.ConditionNamespace, Reason: hnc.ConditionBadConfiguration, Message: `Namespaces "a" is affected by "SubnamespaceAnchorMissing"`}
	others := []metav1.Condition{{Type: hnc.ConditionReady, Message: "one; two"}, {Type: hnc.ConditionNamespace, Reason: hnc.ConditionOutOfSync}}
	outOfSync := metav1.Condition{Type: hnc.ConditionOutOfSync, Reason: hnc.ReasonUnknown, Message: "one; two"}
	for _, order := range [][]metav1.Condition{{halted, bad, outOfSync}, {bad, halted, outOfSync}} {
		given := append(slices.Clone(others), order...)
		stored := &hnc.HNCConfiguration{Status: hnc.HNCConfigurationStatus{Conditions: slices.Clone(given)}}
		shown := configurationFromHub(stored).Status.Conditions
		if len(shown) != 2 || shown[0].Reason != hnc.ConditionActivitiesHalted || shown[0].Message != `Namespaces "a" is affected by "ParentMissing"` || shown[1] != outOfSync {
			t.Errorf("3.12.7: got %v", shown)
		}
		if !slices.Equal(stored.Status.Conditions, given) {
			t.Error("the stored object was changed")
		}
	}
}
