package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestOnlyPanicsOfJSONPatchesAreAnswered has a handler that panics, whatever the library that applies patches is
// called.
func TestOnlyPanicsOfJSONPatchesAreAnswered(t *testing.T) {
	for _, test := range []struct {
		method, contentType string
		cause               any
		code                int
	}{
		{http.MethodPatch, "application/json-patch+json", "runtime error: invalid memory address or nil pointer dereference", http.StatusBadRequest},
		{http.MethodPatch, "application/json-patch+json; charset=utf-8", "index out of range", http.StatusBadRequest},
		{http.MethodPatch, "application/json-patch+json", http.ErrAbortHandler, 0},
		{http.MethodPatch, "application/merge-patch+json", "a defect of ours", 0},
		{http.MethodPut, "application/json-patch+json", "a defect of ours", 0},
	} {
		panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(test.cause) })
		request := httptest.NewRequest(test.method, "/apis/hnc.x-k8s.io/v1beta1/namespaces/a/hierarchies/hierarchy", strings.NewReader("[]"))
		request.Header.Set("Content-Type", test.contentType)
		recorder := httptest.NewRecorder()
		cause := func() (cause any) {
			defer func() { cause = recover() }()
			withJSONPatches(panics).ServeHTTP(recorder, request)
			return nil
		}()
		if test.code == 0 && cause != test.cause || test.code != 0 && (cause != nil || recorder.Code != test.code) {
			t.Errorf("%s %s: panicked with %v, answered %d %s", test.method, test.contentType, cause, recorder.Code, recorder.Body)
		}
	}
}
