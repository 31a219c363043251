package configuration

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// having reads "Type=Reason" words.
func having(words ...string) []metav1.Condition {
	var list []metav1.Condition
	for _, word := range words {
		kind, reason, _ := strings.Cut(word, "=")
		list = append(list, metav1.Condition{Type: kind, Reason: reason})
	}
	return list
}

const (
	missing   = hnc.ConditionActivitiesHalted + "=" + hnc.ReasonParentMissing
	cycle     = hnc.ConditionActivitiesHalted + "=" + hnc.ReasonInCycle
	ancestor  = hnc.ConditionActivitiesHalted + "=" + hnc.ReasonAncestorHalted
	anchor    = hnc.ConditionBadConfiguration + "=" + hnc.ReasonSubnamespaceMissing
	badLabel  = hnc.ConditionBadConfiguration + "=" + hnc.ReasonIllegalManagedLabel
	something = hnc.ConditionBadConfiguration + "=Something"
)

// TestNamespaceConditions has the rows of docs/spec/hnc.md 3.12, step 7.
func TestNamespaceConditions(t *testing.T) {
	for name, test := range map[string]struct {
		// given are the namespaces with their conditions.
		given map[string][]string
		want  string
	}{
		"NamespaceCondition: nothing": {nil, ""},
		"NamespaceCondition: one":     {map[string][]string{"a": {missing}}, `ActivitiesHalted: Namespaces "a" is affected by "ParentMissing"`},
		"NamespaceCondition: two":     {map[string][]string{"e": {missing}, "d": {missing}}, `ActivitiesHalted: 2 namespaces "d", "e" are affected by "ParentMissing"`},
		"NamespaceCondition: three": {map[string][]string{"c": {anchor}, "b": {anchor}, "a": {anchor}},
			`BadConfiguration: 3 namespaces "a", "b", "c" are affected by "SubnamespaceAnchorMissing"`},
		"NamespaceCondition: more": {map[string][]string{"d": {anchor}, "c": {anchor}, "b": {anchor}, "a": {anchor}, "e": {anchor}},
			`BadConfiguration: 5 namespaces "a", "b", "c" ... are affected by "SubnamespaceAnchorMissing"`},
		"NamespaceCondition: managed metadata count, under their own type": {map[string][]string{"a": {badLabel}},
			`BadConfiguration: Namespaces "a" is affected by "IllegalManagedLabel"`},
		"NamespaceCondition: the one that HNC reported comes first": {map[string][]string{"a": {ancestor}, "b": {cycle}, "c": {missing}},
			`ActivitiesHalted: Namespaces "c" is affected by "ParentMissing"; Namespaces "b" is affected by "InCycle"; Namespaces "a" is affected by "AncestorHaltActivities"`},
		"NamespaceCondition: and what HNC did not know, last": {map[string][]string{"a": {something, badLabel, anchor}},
			`BadConfiguration: Namespaces "a" is affected by "SubnamespaceAnchorMissing"; Namespaces "a" is affected by "IllegalManagedLabel"; Namespaces "a" is affected by "Something"`},
		"NamespaceCondition: both types": {map[string][]string{"a": {missing, anchor}},
			`ActivitiesHalted: Namespaces "a" is affected by "ParentMissing", BadConfiguration: Namespaces "a" is affected by "SubnamespaceAnchorMissing"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := nothing()
			for namespace, words := range test.given {
				s.Set(namespace, having(words...))
			}
			c := configuration()
			status := Status(c, resolve(c, nil, cluster(nil), resolution{}), func(schema.GroupResource) kindState { return kindState{Synced: true} }, s, metav1.Now())
			var got []string
			for _, condition := range status.Details() {
				switch condition.Type {
				case hnc.ConditionNamespace:
					if condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != 7 {
						t.Errorf("%+v", condition)
					}
					got = append(got, condition.Reason+": "+condition.Message)
				case hnc.ConditionReady:
					if condition.Status != metav1.ConditionTrue {
						t.Errorf("the configuration is blamed: %+v", condition)
					}
				}
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("got\n%s, want\n%s", text, test.want)
			}
		})
	}
}

func TestNamespaceConditionsAreCounted(t *testing.T) {
	counts := map[string]int{}
	s := newSummary(func(conditionType, reason string, n int) { counts[conditionType+"="+reason] = n })
	if len(counts) != 8 || counts[missing] != 0 || counts[badLabel] != 0 {
		t.Errorf("5.2: not all zeroes are reported: %v", counts)
	}
	for _, step := range []struct {
		namespace string
		has       []string
		news      bool
		want      string
	}{
		{"a", []string{missing, badLabel}, true, "1 0 1 0"},
		{"b", []string{ancestor}, true, "1 1 1 0"},
		{"c", []string{ancestor, something}, true, "1 2 1 1"},
		{"c", []string{ancestor, something}, false, "1 2 1 1"},
		{"d", nil, false, "1 2 1 1"},
		{"a", []string{missing}, true, "1 2 0 1"},
		{"c", nil, true, "1 1 0 0"},
		{"a", []string{ancestor}, true, "0 2 0 0"},
		{"a", nil, true, "0 1 0 0"},
		{"b", nil, true, "0 0 0 0"},
	} {
		if news := s.Set(step.namespace, having(step.has...)); news != step.news {
			t.Errorf("%v: is it news? %t", step, news)
		}
		if got := fmt.Sprint(counts[missing], counts[ancestor], counts[badLabel], counts[something]); got != step.want {
			t.Errorf("%v: counts %s", step, got)
		}
	}
	if len(s.names) > 0 || len(s.pairs) > 0 {
		t.Errorf("what is over is not forgotten: %v, %v", s.names, s.pairs)
	}
}

func BenchmarkSummary(b *testing.B) {
	s := nothing()
	for i := range 10_000 {
		s.Set(fmt.Sprint("namespace-", i), having(ancestor))
	}
	healthy, halted := having(), having(ancestor)
	for i := 0; b.Loop(); i++ {
		s.Set("one", [][]metav1.Condition{healthy, halted}[i%2])
	}
}
