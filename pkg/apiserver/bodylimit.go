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
)

// maxPlanBody is the maximum size of the body of a plan in bytes. The largest valid one has about half that size.
const maxPlanBody = 128 << 10

// withBodyLimit rejects larger plans before they are decoded.
func withBodyLimit(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, ok := genericapirequest.RequestInfoFrom(r.Context())
			if !ok || r.Body == nil || info.Subresource != "plan" {
				api.ServeHTTP(w, r)
				return
			}
			body, err := io.ReadAll(io.LimitReader(r.Body, maxPlanBody+1))
			if err == nil && len(body) > maxPlanBody {
				err = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a plan has at most %d bytes", maxPlanBody))
			}
			if err != nil {
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			api.ServeHTTP(w, r)
		}), config)
	}
}
