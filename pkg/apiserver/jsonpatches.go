package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// withJSONPatches rejects JSON patches with which the library that applies them panics: with operations that have no
// value, or compare null in a list. Which patches these are depends on the object. The handler applies patches in a
// goroutine of its own and passes a panic on as a string, so its origin is not known: each panic is logged. Nothing has
// been written to the response by then.
func withJSONPatches(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isJSONPatch(r) {
				api.ServeHTTP(w, r)
				return
			}
			defer func() {
				cause := recover()
				if cause == nil {
					return
				}
				if cause == http.ErrAbortHandler { //nolint:errorlint // As net/http compares it.
					panic(cause)
				}
				klog.FromContext(r.Context()).V(2).Info("A JSON patch is rejected because applying it panicked", "path", r.URL.Path, "panic", cause)
				err := apierrors.NewBadRequest("the JSON patch cannot be applied: each operation that tests or replaces needs a value, and null in a list cannot be tested")
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
			}()
			api.ServeHTTP(w, r)
		}), config)
	}
}

func isJSONPatch(r *http.Request) bool {
	mediaType, err := contentType(r)
	return r.Method == http.MethodPatch && err == nil && types.PatchType(mediaType) == types.JSONPatchType
}
