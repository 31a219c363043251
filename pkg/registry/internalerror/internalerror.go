// Package internalerror makes errors of requests out of errors of what they depend on, such as etcd and kube-apiserver.
package internalerror

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// From returns the API error in err if the same request can succeed later, such as 503 because etcd is not available,
// and an internal error otherwise. Other API errors are about requests of this server, not about that of the client.
func From(err error) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) && retriable(status) {
		return status
	}
	return apierrors.NewInternalError(err)
}

func retriable(err error) bool {
	return apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err)
}
