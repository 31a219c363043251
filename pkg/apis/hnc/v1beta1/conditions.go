package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Problem is one of several problems that one condition counts.
type Problem struct {
	// type is the type of the condition that counts the problem.
	Type string `json:"type"`
	// reason is the reason that the condition would have if this were the only problem of its type.
	Reason string `json:"reason"`
	// message describes the problem and how to solve it.
	Message string `json:"message"`
	// lastTransitionTime is when the problem was first observed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// Details returns the conditions with the single problems in place of the condition that counts them, so several may
// have the same type.
func (s *HierarchyStatus) Details() []metav1.Condition { return details(s.Conditions, s.Problems) }

// Details returns the conditions with the single problems in place of the condition that counts them, so several may
// have the same type.
func (s *HNCConfigurationStatus) Details() []metav1.Condition {
	return details(s.Conditions, s.Problems)
}

func details(conditions []metav1.Condition, problems []Problem) []metav1.Condition {
	hub := make([]hnc.Problem, len(problems))
	for i, p := range problems {
		hub[i] = hnc.Problem(p)
	}
	return hnc.Details(conditions, hub)
}
