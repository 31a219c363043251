package internalerror

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestErrorsThatEndByThemselvesAreNotInternal(t *testing.T) {
	for want, errs := range map[metav1.StatusReason][]error{
		metav1.StatusReasonServiceUnavailable: {apierrors.NewServiceUnavailable("etcd is not available")},
		metav1.StatusReasonTimeout:            {apierrors.NewTimeoutError("etcd did not confirm it", 0)},
		metav1.StatusReasonServerTimeout:      {apierrors.NewServerTimeout(schema.GroupResource{}, "get", 1)},
		metav1.StatusReasonTooManyRequests:    {apierrors.NewTooManyRequests("later", 1)},
		metav1.StatusReasonInternalError: {
			errors.New("broken"), apierrors.NewForbidden(schema.GroupResource{}, "", nil), apierrors.NewNotFound(schema.GroupResource{}, ""),
		},
	} {
		for _, err := range errs {
			got := From(fmt.Errorf("cannot read the tree: %w", err))
			// Clients get the status of the error itself, not of those that it wraps.
			if status, ok := got.(apierrors.APIStatus); !ok || status.Status().Reason != want {
				t.Errorf("%v: got %v, want the reason %s", err, got, want)
			}
		}
	}
}
