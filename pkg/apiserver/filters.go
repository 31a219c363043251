package apiserver

import (
	"net/http"
	"slices"

	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// filter returns a handler that passes requests on to the next one.
type filter = func(next http.Handler) http.Handler

// chain puts filters in front of a handler. Requests pass the first one first.
func chain(handler http.Handler, filters ...filter) http.Handler {
	for _, f := range slices.Backward(filters) {
		handler = f(handler)
	}
	return handler
}

// rejecting returns a filter that rejects the requests for which check returns an error.
func rejecting(check func(*http.Request) error) filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := check(r); err != nil {
				writeError(err, w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func writeError(err error, w http.ResponseWriter, r *http.Request) {
	responsewriters.ErrorNegotiated(err, served{Codecs}, v1beta1.SchemeGroupVersion, w, r)
}
