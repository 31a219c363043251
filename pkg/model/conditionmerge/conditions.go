// Package conditionmerge merges conditions of which several may have the same type, with different reasons;
// meta.SetStatusCondition keeps one of each type.
package conditionmerge

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// maxMessage is the length up to which Kubernetes accepts the message of a condition.
const maxMessage = 32768

// Merge returns the wanted conditions, with the transition times of those old ones whose status is the same. Where
// several have the same type, each is compared with that of the same reason. Messages are truncated.
func Merge(old, wanted []metav1.Condition, generation int64, now metav1.Time) []metav1.Condition {
	merged := make([]metav1.Condition, len(wanted))
	for i, c := range wanted {
		c.Message = names.Truncate(c.Message, maxMessage)
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

// Summarize returns one condition for each type, of a list in which several may have the same type, and the problems
// that such a condition counts. It has the transition time of the old condition of its type if that has the same
// status.
func Summarize(detailed, old []metav1.Condition) (summary []metav1.Condition, problems []v1beta1.Problem) {
	for _, c := range detailed {
		if n := count(detailed, c.Type); n > 1 {
			problems = append(problems, v1beta1.Problem{Type: c.Type, Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime})
			if last := meta.FindStatusCondition(summary, c.Type); last != nil {
				last.Message += ", " + c.Reason
				continue
			}
			c.Reason, c.Message = hnc.ReasonMultipleProblems, fmt.Sprintf("%d problems, which status.problems lists: %s", n, c.Reason)
			if o := meta.FindStatusCondition(old, c.Type); o != nil && o.Status == c.Status {
				c.LastTransitionTime = o.LastTransitionTime
			}
		}
		summary = append(summary, c)
	}
	return summary, problems
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

// Same reports whether both contain the same conditions, in any order.
func Same(a, b []metav1.Condition) bool {
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
