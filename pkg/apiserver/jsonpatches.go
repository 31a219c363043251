package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// jsonPatchLibrary is in the stack of a panic of the library that applies JSON patches.
const jsonPatchLibrary = "gopkg.in/evanphx/json-patch"

// withJSONPatches rejects JSON patches with which the library that applies them panics: with operations that have no value, or compare null in a list.
func withJSONPatches(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				cause := recover()
				if cause == nil {
					return
				}
				// The handler applies patches in a goroutine of its own, and passes a panic on as a string with its stack. Nothing is written by then.
				if r.Method != http.MethodPatch || !strings.Contains(fmt.Sprint(cause), jsonPatchLibrary) {
					panic(cause)
				}
				err := apierrors.NewBadRequest("the JSON patch cannot be applied: each operation that tests or replaces needs a value, and null in a list cannot be tested")
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
			}()
			api.ServeHTTP(w, r)
		}), config)
	}
}
