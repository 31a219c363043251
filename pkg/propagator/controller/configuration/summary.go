package configuration

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// pair is the type and the reason of a condition.
type pair struct{ Type, Reason string }

// known are the pairs that HNC counts, in the order in which a later one replaced an earlier one, with those of managed
// labels and annotations under the type that they really have. Other pairs precede all of them. Source:
// docs/spec/hnc.md 3.12, step 7.
var known = []pair{
	{hnc.ConditionBadConfiguration, hnc.ReasonIllegalManagedAnnotation},
	{hnc.ConditionBadConfiguration, hnc.ReasonIllegalManagedLabel},
	{hnc.ConditionBadConfiguration, hnc.ReasonSubnamespaceMissing},
	{hnc.ConditionActivitiesHalted, hnc.ReasonAncestorHalted},
	{hnc.ConditionActivitiesHalted, hnc.ReasonDeletingCRD},
	{hnc.ConditionActivitiesHalted, hnc.ReasonIllegalParent},
	{hnc.ConditionActivitiesHalted, hnc.ReasonInCycle},
	{hnc.ConditionActivitiesHalted, hnc.ReasonParentMissing},
}

// summary holds which namespaces have which conditions. The cost of a change depends on the number of conditions of the
// namespace, not on the number of namespaces. Its methods are safe for concurrent use.
type summary struct {
	count func(conditionType, reason string, namespaces int)

	mu    sync.Mutex
	pairs map[string][]pair
	names map[pair]sets.Set[string]
}

// newSummary returns an empty summary. It calls count with the number of namespaces of each pair that HNC knows at
// once, and of any pair with each change.
func newSummary(count func(conditionType, reason string, namespaces int)) *summary {
	for _, pair := range known {
		count(pair.Type, pair.Reason, 0)
	}
	return &summary{count: count, pairs: map[string][]pair{}, names: map[pair]sets.Set[string]{}}
}

// Set records the conditions of a namespace, none if it is gone, and reports whether they are different from before.
func (s *summary) Set(namespace string, conditions []metav1.Condition) bool {
	var pairs []pair
	for _, c := range conditions {
		pairs = append(pairs, pair{c.Type, c.Reason})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.pairs[namespace]
	if slices.Equal(old, pairs) {
		return false
	}
	if s.pairs[namespace] = pairs; len(pairs) == 0 {
		delete(s.pairs, namespace)
	}
	for _, pair := range old {
		s.names[pair].Delete(namespace)
	}
	for _, pair := range pairs {
		if s.names[pair] == nil {
			s.names[pair] = sets.New[string]()
		}
		s.names[pair].Insert(namespace)
	}
	for _, pair := range slices.Concat(old, pairs) {
		s.count(pair.Type, pair.Reason, len(s.names[pair]))
		if len(s.names[pair]) == 0 {
			delete(s.names, pair)
		}
	}
	return true
}

// problems returns what to report: of each type of condition, the reason that HNC would report comes first.
func (s *summary) problems() []problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	pairs := make([]pair, 0, len(s.names))
	for pair := range s.names {
		pairs = append(pairs, pair)
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(
			strings.Compare(a.Type, b.Type),
			cmp.Compare(slices.Index(known, b), slices.Index(known, a)),
			strings.Compare(a.Reason, b.Reason))
	})
	problems := make([]problem, len(pairs))
	for i, pair := range pairs {
		problems[i] = problem{hnc.ConditionNamespace, pair.Type, affected(s.names[pair], pair.Reason)}
	}
	return problems
}

// named is how many namespaces a message names.
const named = 3

// affected lists the namespaces that have a condition, in HNC's words.
func affected(namespaces sets.Set[string], reason string) string {
	first := names.First(maps.Keys(namespaces), named)
	for i := range first {
		first[i] = fmt.Sprintf("%q", first[i])
	}
	list := strings.Join(first, ", ")
	switch {
	case len(namespaces) == 1:
		return fmt.Sprintf("Namespaces %s is affected by %q", list, reason)
	case len(namespaces) > named:
		list += " ..."
	}
	return fmt.Sprintf("%d namespaces %s are affected by %q", len(namespaces), list, reason)
}
