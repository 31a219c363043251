package view

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// passed are paths that are those of kube-apiserver, and prefixes of such.
var passed = []string{"/version", "/healthz", "/livez", "/readyz", "/openid/v1/jwks", "/.well-known/openid-configuration"}

var readMethods = sets.New(http.MethodGet, http.MethodHead)

// serveNonResource serves discovery, OpenAPI and the paths that are no API.
func (h *Handler) serveNonResource(c *call) error {
	path := strings.TrimSuffix(c.r.URL.Path, "/")
	if !readMethods.Has(c.r.Method) {
		return methodNotAllowed(c)
	}
	for _, prefix := range passed {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			return h.forward(c)
		}
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch segments[0] {
	case "":
		h.rewrite(c, "application/json", h.filterPaths)
	case "api", "apis":
		if len(segments) > 1 && segments[0] == "apis" {
			if err := h.mapDocument(c, segments[1]); err != nil {
				return err
			}
		}
		h.rewrite(c, discoveryAccept(c.r.Header.Get("Accept")), h.filterDiscovery)
	case "openapi":
		return h.serveOpenAPI(c, segments[1:])
	default:
		return notFound(c)
	}
	return nil
}

// mapDocument makes a request for a document about a group of the view one about the group in the cluster.
func (h *Handler) mapDocument(c *call, group string) error {
	realGroup, ok := h.realGroup(group)
	if !ok || rules.RefusedGroup(group) {
		return notFound(c)
	}
	if hnc.IsViewGroup(realGroup) {
		c.path = withGroup(c.path, realGroup)
	}
	return nil
}
