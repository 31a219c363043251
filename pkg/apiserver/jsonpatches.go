package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// withJSONPatches rejects JSON patches with which the library that applies them would panic.
func withJSONPatches(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			contentType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
			if r.Method == http.MethodPatch && contentType == string(types.JSONPatchType) && r.Body != nil {
				// The handler reads it again, and rejects what is too large.
				body, err := io.ReadAll(io.LimitReader(r.Body, config.MaxRequestBodyBytes+1))
				if err == nil {
					err = invalidJSONPatch(body)
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

// invalidJSONPatch rejects operations that replace the whole object by no value. What is no JSON patch at all is left to the handler.
func invalidJSONPatch(body []byte) error {
	var operations []map[string]json.RawMessage // Like the library, and unlike a struct, this distinguishes "value" and "Value".
	_ = json.Unmarshal(body, &operations)
	for i, operation := range operations {
		var kind, path string
		if json.Unmarshal(operation["op"], &kind) != nil || json.Unmarshal(operation["path"], &path) != nil {
			continue
		}
		if _, hasValue := operation["value"]; kind == "replace" && path == "" && !hasValue {
			return apierrors.NewBadRequest(fmt.Sprintf("operation %d of the JSON patch replaces the whole object and has no value; name a path, or give it a value", i))
		}
	}
	return nil
}
