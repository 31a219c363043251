package view

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/requestsize"
)

// validatePath rejects paths that a proxy, kube-apiserver and this package could understand differently, and the
// deprecated forms of paths. What follows a subresource proxy is the path of the tenant's own server.
func validatePath(u *url.URL, info *request.RequestInfo) error {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	if !strings.HasPrefix(u.Path, "/") {
		return apierrors.NewBadRequest("path: must begin with /")
	}
	if last := len(segments) - 1; last > 0 && segments[last] == "" {
		segments = segments[:last]
	}
	if info.IsResourceRequest {
		at := versionIndex(info) + 3
		if info.Namespace != "" && info.Resource != namespaces.Resource {
			at += 2
		}
		if info.Subresource == "proxy" && len(segments) > at && segments[at] == "proxy" {
			segments = segments[:at]
		}
		if v := versionIndex(info); len(segments) > v+1 && (segments[v+1] == "watch" || segments[v+1] == "proxy") {
			return apierrors.NewBadRequest("path: /" + segments[v+1] + "/ is not supported in this place; use ?watch=true, or the subresource proxy")
		}
	}
	for _, segment := range segments {
		name, err := url.PathUnescape(segment)
		if err != nil {
			return apierrors.NewBadRequest("path: " + err.Error())
		}
		if needlessEscape.MatchString(segment) {
			return apierrors.NewBadRequest(fmt.Sprintf("path: segment %q must not escape letters, digits, -, ., _ and ~", segment))
		}
		if segment == "" && len(segments) > 1 {
			return apierrors.NewBadRequest("path: must not contain //")
		}
		if problems := content.IsPathSegmentName(name); len(problems) > 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("path: segment %q %s", name, strings.Join(problems, ", ")))
		}
		if strings.ContainsAny(name, ";\\\x00") {
			return apierrors.NewBadRequest(fmt.Sprintf("path: segment %q must not contain ; or \\", name))
		}
	}
	return nil
}

// needlessEscape matches an escaped character that means the same as itself (RFC 3986, 2.3): names are translated by
// their spelling.
var needlessEscape = regexp.MustCompile(`%(2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE])`)

// versionIndex is the position of the version among the segments of a resource's path.
func versionIndex(info *request.RequestInfo) int {
	if info.APIPrefix == "api" {
		return 1
	}
	return 2
}

// namespaceSegment is the position of the name of a namespace in a resource's path, after the empty text before the
// first slash.
func namespaceSegment(info *request.RequestInfo) int { return versionIndex(info) + 3 }

// validateHeaders rejects what would change who the caller is. Dropping it silently could give a request more
// permissions than its sender meant it to have.
func validateHeaders(header http.Header) error {
	if err := requestsize.CheckHeaders(header); err != nil {
		return err
	}
	for name := range header {
		if strings.HasPrefix(name, "Impersonate-") || strings.HasPrefix(name, "X-Remote-") {
			return apierrors.NewBadRequest("header " + name + ": not supported in a view; open the view as the other user instead")
		}
	}
	for _, protocols := range header.Values("Sec-Websocket-Protocol") {
		if strings.Contains(protocols, "bearer.authorization.k8s.io") {
			return apierrors.NewBadRequest("header Sec-WebSocket-Protocol: tokens are not supported here; send the header Authorization")
		}
	}
	return nil
}
