package configuration

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/conditionmerge"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// kindState is the state of a kind whose objects are watched.
type kindState struct {
	// Synced reports that its objects are listed.
	Synced bool
	// Sources and Copies are the numbers of objects.
	Sources, Copies int
	// Error says what can't be read or written, "" if everything can.
	Error string
}

// Status returns the status of the configuration c that was resolved, with the summary of the namespaces' conditions.
func Status(c *v1beta1.HNCConfiguration, r resolution, state func(schema.GroupResource) kindState, s *summary, now metav1.Time) v1beta1.HNCConfigurationStatus {
	var status v1beta1.HNCConfigurationStatus
	problems := problemsOf("spec.resources", r.Problems)
	var waiting []string
	for _, e := range r.Entries {
		s := v1beta1.ResourceStatus{Group: e.Group, Version: e.Kind.Version, Resource: e.Resource, Mode: e.Policy.Mode}
		if e.Policy.Mode != v1beta1.Ignore {
			known := state(e.Kind.GroupResource())
			switch {
			case known.Error != "":
				problems = append(problems, problem{hnc.ConditionOutOfSync, hnc.ReasonUnknown, known.Error})
			case !known.Synced:
				waiting = append(waiting, e.Kind.GroupResource().String())
			}
			if known.Synced {
				s.NumPropagatedObjects = count(known.Copies)
				if e.Policy.Mode != v1beta1.Remove {
					s.NumSourceObjects = count(known.Sources)
				}
			}
		}
		status.Resources = append(status.Resources, s)
	}
	slices.SortStableFunc(status.Resources, func(a, b v1beta1.ResourceStatus) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
	})
	status.ObservedGeneration = r.Generation
	detailed := conditionmerge.Merge(c.Status.Details(), append(problemConditions(problems, waiting), summed(s.problems())...), r.Generation, now)
	status.Conditions, status.Problems = conditionmerge.Summarize(detailed, c.Status.Conditions)
	return status
}

func count(n int) *int32 {
	m := int32(min(n, 1<<31-1)) //nolint:gosec // bounded on the spot
	return &m
}

// problemConditions returns one condition for each type of problem, and Ready. The first problem of a type gives the
// reason.
func problemConditions(problems []problem, waiting []string) []metav1.Condition {
	wanted := []metav1.Condition{}
	ready := metav1.Condition{
		Type: hnc.ConditionReady, Status: metav1.ConditionTrue, Reason: hnc.ReasonReady, Message: "all configured kinds are propagated as their modes say",
	}
	if len(waiting) > 0 {
		ready.Status, ready.Reason = metav1.ConditionFalse, hnc.ReasonPending
		ready.Message = "waiting for the objects of " + strings.Join(waiting, ", ")
	}
	for _, condition := range []string{hnc.ConditionOutOfSync, hnc.ConditionBadConfiguration} {
		found := slices.DeleteFunc(slices.Clone(problems), func(p problem) bool { return p.Condition != condition })
		if len(found) == 0 {
			continue
		}
		c := metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: found[0].Reason, Message: message(found)}
		wanted = append(wanted, c)
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, c.Reason, c.Message
	}
	return append(wanted, ready)
}

// summed returns one condition for each type of the namespaces' conditions. They are not problems of the configuration.
func summed(problems []problem) []metav1.Condition {
	var wanted []metav1.Condition
	for _, p := range problems {
		if n := len(wanted); n > 0 && wanted[n-1].Reason == p.Reason {
			wanted[n-1].Message += hnc.NamespaceConditionSeparator + p.Message
			continue
		}
		wanted = append(wanted, metav1.Condition{Type: p.Condition, Status: metav1.ConditionTrue, Reason: p.Reason, Message: p.Message})
	}
	return wanted
}

// Conditions returns a condition for the problems of each type and reason, in their order. Callers add the status and
// the times.
func Conditions(problems []problem) []metav1.Condition {
	var found []metav1.Condition
	for len(problems) > 0 {
		first := problems[0]
		other := func(p problem) bool { return p.Condition != first.Condition || p.Reason != first.Reason }
		alike := slices.DeleteFunc(slices.Clone(problems), other)
		found = append(found, metav1.Condition{Type: first.Condition, Reason: first.Reason, Message: message(alike)})
		problems = slices.DeleteFunc(slices.Clone(problems), func(p problem) bool { return !other(p) })
	}
	return found
}

// most is how many problems a condition lists.
const most = 10

func message(problems []problem) string {
	var messages []string
	for _, p := range problems[:min(len(problems), most)] {
		messages = append(messages, p.Message)
	}
	return names.AndMore(messages, len(problems), "; ")
}

// sameStatus reports whether two statuses are equivalent.
func sameStatus(a, b v1beta1.HNCConfigurationStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && equality.Semantic.DeepEqual(a.Resources, b.Resources) &&
		conditionmerge.Same(a.Conditions, b.Conditions) && equality.Semantic.DeepEqual(a.Problems, b.Problems)
}
