package apiserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treeplacement"
)

// The maximum sizes of bodies in bytes. The largest valid bodies have about half that size.
const (
	maxPlanBody      = 128 << 10
	maxPlacementBody = 512 << 10
)

// bodyLimit returns the maximum size of the body of a request and what it contains, 0 for the limit of all requests.
func bodyLimit(info *genericapirequest.RequestInfo) (limit int, what string) {
	switch {
	case info.Subresource == "plan":
		return maxPlanBody, "a plan"
	case info.Resource == treeplacement.Resource:
		return maxPlacementBody, "a tree placement"
	}
	return 0, ""
}

// withBodyLimits rejects larger bodies before they are decoded.
func withBodyLimits(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, ok := genericapirequest.RequestInfoFrom(r.Context())
			if !ok || r.Body == nil {
				api.ServeHTTP(w, r)
				return
			}
			if limit, what := bodyLimit(info); limit > 0 {
				body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
				if err == nil && len(body) > limit {
					err = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("%s has at most %d bytes", what, limit))
				}
				if err != nil {
					responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			api.ServeHTTP(w, r)
		}), config)
	}
}
