package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/streaming/pkg/httpstream"
)

// Limits bound the requests of one view that one replica serves at the same time.
type Limits struct {
	// Requests are those that are answered at once, Streams are watches, logs, shells and the like.
	Requests, Streams int
}

// retryAfter is when a rejected request may be sent again, in seconds.
const retryAfter = 1

// inFlight counts the requests of one view.
type inFlight struct {
	limits            Limits
	requests, streams atomic.Int64
}

// acquire counts a request until it is released. It fails with TooManyRequests.
func (f *inFlight) acquire(r *http.Request) (release func(), err error) {
	count, limit, what := &f.requests, f.limits.Requests, "requests"
	if isStream(r) {
		count, limit, what = &f.streams, f.limits.Streams, "watches and streams"
	}
	if count.Add(1) > int64(limit) {
		count.Add(-1)
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("this view already has %d %s at the same time, the most that it may have; try again later", limit, what), retryAfter)
	}
	return func() { count.Add(-1) }, nil
}

// isStream reports whether a request may take as long as its client wants. Only reads are watches and logs, whatever the
// query of another request says.
func isStream(r *http.Request) bool {
	query, read := r.URL.Query(), r.Method == http.MethodGet || r.Method == http.MethodHead
	return httpstream.IsUpgradeRequest(r) || read && (isTrue(query, "watch") || isTrue(query, "follow"))
}

// isTrue reports whether a parameter of a query is one that kube-apiserver takes for true.
func isTrue(query map[string][]string, name string) bool {
	values, ok := query[name]
	return ok && len(values) > 0 && !strings.EqualFold(values[0], "false") && values[0] != "0"
}

// Limits of the bytes of bodies that are in memory at the same time.
const (
	maxViewBodies = 16 << 20
	maxBodies     = 192 << 20
)

// bodies counts bytes of bodies, of one view and of all views.
type bodies struct{ view, all *semaphore.Weighted }

// reserve counts a body until it is released. It fails with TooManyRequests.
func (b bodies) reserve(bytes int64) (release func(), err error) {
	if !b.view.TryAcquire(bytes) {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("the bodies of this view's requests have %d bytes together, the most that they may have; try again later", maxViewBodies), retryAfter)
	}
	if !b.all.TryAcquire(bytes) {
		b.view.Release(bytes)
		return nil, apierrors.NewTooManyRequests("the bodies of all views' requests have too many bytes together; try again later", retryAfter)
	}
	return func() { b.view.Release(bytes); b.all.Release(bytes) }, nil
}
