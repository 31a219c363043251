package suite

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// Deadline is the time after which a poll fails. It is much longer than any controller needs, so that a slow
	// machine fails no test.
	Deadline = 2 * time.Minute
	// Interval is the time between two polls of what is soon there.
	Interval = 50 * time.Millisecond
)

// polls are the times between two polls. What the servers have to do first is done in a few of them, or takes a while,
// during which polls would only take processor time from them.
var polls = wait.Backoff{Duration: 25 * time.Millisecond, Factor: 1.4, Steps: 10, Cap: 250 * time.Millisecond}

// poll calls f until it returns true, and reports whether it did before the deadline.
func poll(t *testing.T, f func() bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	return polls.DelayFunc().Until(ctx, true, true, func(context.Context) (bool, error) { return f(), nil }) == nil
}

// Backoff is for updates that may conflict with writes of the propagator.
var Backoff = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 30, Cap: 2 * time.Second}

// Eventually polls until f returns no error.
func Eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	var last error
	if !poll(t, func() bool { last = f(); return last == nil }) {
		t.Fatalf("%s: %v", what, last)
	}
}

// EventuallyEqual polls until f returns the wanted text.
func EventuallyEqual(t *testing.T, what, want string, f func() string) {
	t.Helper()
	var got string
	if !poll(t, func() bool { got = f(); return got == want }) {
		t.Fatalf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// Steady polls until f returns the same for some time, and returns that.
func Steady[T any](t *testing.T, what string, same time.Duration, equal func(a, b T) bool, f func() T) T {
	t.Helper()
	// On a busy machine, the time alone might pass between two polls.
	const enough = 8
	last, since, unchanged := f(), time.Now(), 0
	if !poll(t, func() bool {
		if now := f(); !equal(now, last) {
			last, since, unchanged = now, time.Now(), 0
		}
		unchanged++
		return time.Since(since) >= same && unchanged >= enough
	}) {
		t.Fatalf("%s: it keeps changing: %v", what, last)
	}
	return last
}

// Must retries while f is forbidden, because permissions take effect a moment after they are granted, and fails the
// test for any other error.
func Must(t *testing.T, what string, f func() error) {
	t.Helper()
	var last error
	if !poll(t, func() bool { last = f(); return !apierrors.IsForbidden(last) }) || last != nil {
		t.Fatalf("%s: %v", what, last)
	}
}
