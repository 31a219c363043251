package hnc

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReadyCondition returns the Ready condition, without times, of a namespace without problems. The registry sets it
// with validated writes, and the propagator if it finds no problem. Both must set the same condition, otherwise each
// overwrites the other's. The message is stored in every Hierarchy: changing it rewrites all of them.
func ReadyCondition() metav1.Condition {
	return metav1.Condition{
		Type: ConditionReady, Status: metav1.ConditionTrue, Reason: ReasonReady,
		Message: "the namespace has its place in the tree",
	}
}
