// Package outcome interprets the results of writes.
package outcome

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// ErrStale reports that a decision was based on an outdated cache. It is retried, and not worth a line in the log.
var ErrStale = errors.New("the cache is outdated")

// ErrPaced reports that a write is not tried yet, because the server has refused it before, or because it awaits
// another one. It is retried, and not worth a line in the log.
var ErrPaced = errors.New("the write is tried later")

// ErrUnfinished reports that a part of the work is done. The rest has its turn after the work of others.
var ErrUnfinished = errors.New("the work continues")

// ErrWaiting reports that the work waits for others. It is enqueued again when it is its turn.
var ErrWaiting = errors.New("the work waits for its turn")

// Paced reports whether an error is ErrPaced, or joins nothing else.
func Paced(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !Paced(err) })
	}
	return errors.Is(err, ErrPaced)
}

// Record counts a write of anything but a copy, and returns the error to retry it for. It calls observe, which enters
// the result in the cache, if the write succeeded. That the object or its namespace is gone, or is being deleted, is no
// error.
func Record(m *metrics.Metrics, kind, verb, name string, err error, observe func()) error {
	result := "failed"
	defer func() { m.Write(kind, verb, result) }()
	switch {
	case err == nil:
		result = metrics.Done
		if observe != nil {
			observe()
		}
		return nil
	case copies.Gone(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		result = metrics.Done
		return nil
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		result = "stale"
		return fmt.Errorf("%w: %w", ErrStale, err)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		result = "refused"
	}
	return fmt.Errorf("%s %s of namespace %q: %w", verb, kind, name, err)
}

// Rejected reports whether the server rejects a request for a reason that a retry alone does not change.
func Rejected(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code/100 == 4 && !errors.Is(err, ErrStale) && !apierrors.IsTooManyRequests(err)
}

// MissingPermissionHint says how to grant the propagator a permission that it lacks for a resource, "" if that is not
// the error. Other rejections, such as a quota's, have the same code; an authorizer's message says what the user cannot
// do.
func MissingPermissionHint(resource schema.GroupResource, err error) string {
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), " cannot ") {
		return ""
	}
	return fmt.Sprintf("; to let it be propagated, label a ClusterRole that allows get, list, watch, create, update and delete for %s with %s: \"true\", "+
		"or remove the entry", resource, hnc.LabelAggregateToPropagator)
}
