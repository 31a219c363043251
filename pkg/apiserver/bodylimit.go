package apiserver

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

const (
	// maxPlanBody is the maximum size of the body of a plan in bytes. The largest valid one has about half that size.
	maxPlanBody = 128 << 10
	// maxStrategicPatch is that of a strategic merge patch: the library compares each item of a list with each other,
	// and goes on when the request has timed out.
	maxStrategicPatch = 128 << 10
	// maxRequestBody is what the server accepts of any other.
	maxRequestBody = 3 << 20
)

// bodyLimit returns the size of the largest body that a request may have, 0 if nothing is to be checked, and what to
// say of a larger one.
func bodyLimit(info *genericapirequest.RequestInfo, mediaType string) (limit int, message string) {
	switch {
	case info.Subresource == "plan":
		return maxPlanBody, fmt.Sprintf("a plan has at most %d bytes", maxPlanBody)
	case mediaType == string(types.StrategicMergePatchType):
		return maxStrategicPatch, fmt.Sprintf("a strategic merge patch has at most %d bytes; send a merge patch (%s)", maxStrategicPatch, types.MergePatchType)
	case isYAML(mediaType):
		return maxRequestBody, fmt.Sprintf("limit is %d", maxRequestBody)
	}
	return 0, ""
}

func isYAML(mediaType string) bool {
	return mediaType == runtime.ContentTypeYAML || mediaType == string(types.ApplyYAMLPatchType)
}

// contentType returns the media type of a request's body, "" if it has none. It rejects those that cannot be parsed:
// the handlers of patches take what is before the first semicolon, so that no limit would apply.
func contentType(r *http.Request) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return "", nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil {
		return "", &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
			Reason: metav1.StatusReasonUnsupportedMediaType, Message: fmt.Sprintf("header Content-Type is malformed: %v", err)}}
	}
	return mediaType, nil
}

// withBodyLimit rejects bodies that cost too much to decode or to apply, before that.
func withBodyLimit(build handlerChain, serializer runtime.NegotiatedSerializer) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, ok := genericapirequest.RequestInfoFrom(r.Context())
			if !ok || r.Body == nil {
				api.ServeHTTP(w, r)
				return
			}
			mediaType, err := contentType(r)
			if err != nil {
				responsewriters.ErrorNegotiated(err, serializer, v1beta1.SchemeGroupVersion, w, r)
				return
			}
			limit, message := bodyLimit(info, mediaType)
			if limit == 0 {
				api.ServeHTTP(w, r)
				return
			}
			body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
			if err == nil && len(body) > limit {
				err = apierrors.NewRequestEntityTooLargeError(message)
			}
			if err == nil && isYAML(mediaType) {
				err = yamlbody.Check(body)
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
