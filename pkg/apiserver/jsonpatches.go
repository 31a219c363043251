package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// withJSONPatches rejects JSON patches with which the library that applies them panics: with operations that have no
// value, or compare null in a list. Which patches these are depends on the object. The handler applies patches in a
// goroutine of its own and passes a panic on as a string, so its origin is not known: each panic is logged. Nothing has
// been written to the response by then.
func withJSONPatches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isJSONPatch(r) {
			next.ServeHTTP(w, r)
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
			writeError(err, w, r)
		}()
		next.ServeHTTP(w, r)
	})
}

func isJSONPatch(r *http.Request) bool {
	mediaType, err := contentType(r)
	return r.Method == http.MethodPatch && err == nil && types.PatchType(mediaType) == types.JSONPatchType
}
