package apiserver

import (
	"cmp"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/longurl"
)

// maxPath is how many bytes the path of a request may have. The longest valid one has less than half of that.
const maxPath = 2 << 10

// withLongURLs rejects requests with long URLs or many headers before anything parses or logs them.
func withLongURLs(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		chain := build(api, config)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := cmp.Or(longurl.Check(r.URL, maxPath), longurl.CheckHeaders(r.Header)); err != nil {
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
				return
			}
			chain.ServeHTTP(w, r)
		})
	}
}
