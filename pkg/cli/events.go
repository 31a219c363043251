package cli

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// latestEvents returns events, the latest first, and one for each reason, object and message, for warnings and others:
// users with edit may write events, and must not hide those of others by repeating one.
func latestEvents(events []corev1.Event, now time.Time) []corev1.Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return lastSeen(&b, now).Compare(lastSeen(&a, now)) })
	known := map[[4]string]bool{}
	return slices.DeleteFunc(events, func(e corev1.Event) bool {
		key := [4]string{strconv.FormatBool(e.Type == corev1.EventTypeWarning), e.Reason, eventObject(&e), e.Message}
		repeated := known[key]
		known[key] = true
		return repeated
	})
}

// eventObject names the object of an event.
func eventObject(e *corev1.Event) string {
	o := e.InvolvedObject
	return fmt.Sprintf("%s:%s/%s", o.Kind, o.Namespace, o.Name)
}

// lastSeen returns when an event was last seen. Users with edit may write events with any time, which is ignored before the
// event was created, or further after now than clocks differ.
func lastSeen(e *corev1.Event, now time.Time) time.Time {
	seen, created := e.LastTimestamp.Time, e.CreationTimestamp.Time
	switch {
	case e.Series != nil:
		seen = e.Series.LastObservedTime.Time
	case seen.IsZero():
		seen = e.EventTime.Time
	}
	if seen.Before(created) || seen.After(now.Add(5*time.Minute)) {
		return created
	}
	return seen
}
