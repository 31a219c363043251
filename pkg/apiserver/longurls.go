package apiserver

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/requestlimits"
)

// maxPath is how many bytes the path of a request may have. The longest valid one has less than half of that.
const maxPath = 2 << 10

// withLongURLs rejects requests with long URLs before anything parses or logs them.
func withLongURLs(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		chain := build(api, config)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := requestlimits.Check(r, maxPath); err != nil {
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
				return
			}
			chain.ServeHTTP(w, r)
		})
	}
}

// withHeaderLimit rejects requests with large headers.
func withHeaderLimit(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := requestlimits.CheckHeaders(r.Header); err != nil {
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
				return
			}
			api.ServeHTTP(w, r)
		}), config)
	}
}
