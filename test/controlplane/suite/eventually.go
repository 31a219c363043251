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
	// Interval is the time between two polls.
	Interval = 50 * time.Millisecond
)

// Backoff is for updates that may conflict with writes of the propagator.
var Backoff = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 30, Cap: 2 * time.Second}

// Eventually polls until f returns no error.
func Eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), Interval, Deadline, true, func(context.Context) (bool, error) {
		last = f()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}

// EventuallyEqual polls until f returns the wanted text.
func EventuallyEqual(t *testing.T, what, want string, f func() string) {
	t.Helper()
	var got string
	err := wait.PollUntilContextTimeout(t.Context(), Interval, Deadline, true, func(context.Context) (bool, error) {
		got = f()
		return got == want, nil
	})
	if err != nil {
		t.Fatalf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// Must retries while f is forbidden, because permissions take effect a moment after they are granted, and fails the
// test for any other error.
func Must(t *testing.T, what string, f func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), Interval, Deadline, true, func(context.Context) (bool, error) {
		last = f()
		return !apierrors.IsForbidden(last), nil
	})
	if err != nil || last != nil {
		t.Fatalf("%s: %v", what, last)
	}
}
