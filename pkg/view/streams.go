package view

import (
	"context"
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/streaming/pkg/httpstream"
)

// IsStream reports whether a request may take as long as its client wants: what kube-apiserver serves as a watch, logs
// that are followed, and connections with programs. The query and the headers of other requests do not
// count: what they are answered with can be kept in memory as a whole.
func IsStream(r *http.Request, info *request.RequestInfo) bool {
	switch {
	case !info.IsResourceRequest:
		return false
	case info.Verb == "watch":
		return true
	case info.Verb == "get" && info.Subresource == "log":
		return isTrue(r.URL.Query(), "follow")
	}
	return Connects(info) && httpstream.IsUpgradeRequest(r)
}

// isTrue reports whether a parameter of a query is one that kube-apiserver takes for true.
func isTrue(query map[string][]string, name string) bool {
	values, ok := query[name]
	return ok && len(values) > 0 && !strings.EqualFold(values[0], "false") && values[0] != "0"
}

// untilStopping returns a request that ends when the view's server stops, if it is a stream. Clients continue watches
// by another replica.
func (h *Handler) untilStopping(r *http.Request, info *request.RequestInfo) (_ *http.Request, release func()) {
	if h.Stopping == nil || !IsStream(r, info) {
		return r, func() {}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(h.Stopping, func() { cancel(Interrupted(r, "the server of this view is shutting down; send the request again")) })
	return r.WithContext(ctx), func() { stop(); cancel(nil) }
}
