package hnc

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NotObserved is the observedGeneration of an object whose status has not been written yet. It differs from each
// generation, so tools that determine health do not mistake a new object for one without a controller.
const NotObserved = -1

// ReadyCondition returns the Ready condition, without times, of a namespace without problems. The registry sets it
// with validated writes, and the propagator if it finds no problem. Both must set the same condition, otherwise each
// overwrites the other's. The message is stored in every Hierarchy: changing it rewrites all of them.
func ReadyCondition() metav1.Condition {
	return metav1.Condition{
		Type: ConditionReady, Status: metav1.ConditionTrue, Reason: ReasonReady,
		Message: "the namespace has its place in the tree",
	}
}

// Problem is one of several problems that one condition counts.
type Problem struct {
	Type               string
	Reason             string
	Message            string
	LastTransitionTime metav1.Time
}

// Details returns conditions with the single problems in place of the condition that counts them, so several may have
// the same type.
func Details(conditions []metav1.Condition, problems []Problem) []metav1.Condition {
	if len(problems) == 0 {
		return conditions
	}
	var details []metav1.Condition
	for _, c := range conditions {
		counted := false
		for _, p := range problems {
			if p.Type == c.Type {
				one := c
				one.Reason, one.Message, one.LastTransitionTime = p.Reason, p.Message, p.LastTransitionTime
				details, counted = append(details, one), true
			}
		}
		if !counted {
			details = append(details, c)
		}
	}
	return details
}
