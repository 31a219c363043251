package hnc

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InPlace returns the condition of a namespace without problems, but for its times. The registry sets it with a write that it has judged,
// and the propagator when it has found nothing wrong: both must say the same, or one would correct the other.
func ReadyCondition() metav1.Condition {
	return metav1.Condition{
		Type: ConditionReady, Status: metav1.ConditionTrue, Reason: ReasonReady,
		Message: "the namespace has its place in the tree",
	}
}
