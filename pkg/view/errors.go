package view

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// maxLogged bounds the bytes of a path in the log.
const maxLogged = 1 << 10

// Fail writes an error as a Status: the cause, if there is one, why the request was ended. What is not an API error is
// a failure to reach kube-apiserver, and is logged.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	var api apierrors.APIStatus
	if !errors.As(err, &api) && !errors.As(context.Cause(r.Context()), &api) {
		if r.Context().Err() != nil {
			return // the caller has disconnected
		}
		why := names.ShortenText(err.Error()) // It may contain what a server has answered.
		klog.FromContext(r.Context()).Error(nil, "Cannot serve a request of a view", "method", r.Method, "path", r.URL.Path[:min(len(r.URL.Path), maxLogged)], "reason", why)
		api = Interrupted(r, "the view cannot reach kube-apiserver: "+why)
	}
	status := api.Status()
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	writeJSON(w, int(status.Code), status)
}

// Unavailable returns the error of what works again soon.
func Unavailable(message string) *apierrors.StatusError {
	unavailable := apierrors.NewServiceUnavailable(message)
	unavailable.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return unavailable
}

// Interrupted returns the error of a request that may have been carried out. Clients repeat those with Retry-After by
// themselves, and a creation that was made would be rejected the second time: only reads have one.
func Interrupted(r *http.Request, message string) *apierrors.StatusError {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return Unavailable(message)
	}
	return apierrors.NewServiceUnavailable(message)
}

// shownError returns an error of the cluster with the names of the view.
func (h *Handler) shownError(err error) error {
	var api *apierrors.StatusError
	if !errors.As(err, &api) {
		return err
	}
	status := api.ErrStatus
	status.Message = h.Mapper.Message(status.Message)
	return &apierrors.StatusError{ErrStatus: status}
}

// writeJSON writes a response.
func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // fails only if the caller has disconnected
}
