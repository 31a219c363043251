package gateway

import (
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

var tenantViews = hnc.ViewGroupVersion.WithResource("tenantviews").GroupResource()

// ServeHTTP serves the API view.hnc.x-k8s.io: its discovery, and the views below the subresource proxy of their
// TenantViews. Callers are authenticated, and authorized for the subresource. Paths are not cleaned: a view rejects
// what could be understood differently.
func (v *Views) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := v.Usable(); err != nil {
		view.Fail(w, r, view.Unavailable(err.Error()))
		return
	}
	info, ok := request.RequestInfoFrom(r.Context())
	if !ok || !info.IsResourceRequest {
		discover(w, r)
		return
	}
	outer := hnc.ViewPath(info.Namespace)
	inner, ok := strings.CutPrefix(r.URL.EscapedPath(), outer)
	if !ok || inner != "" && inner[0] != '/' {
		view.Fail(w, r, apierrors.NewNotFound(tenantViews, info.Name))
		return
	}
	s := v.get(info.Namespace)
	if s == nil {
		view.Fail(w, r, apierrors.NewNotFound(tenantViews, hnc.TenantViewSingleton))
		return
	}
	if inner == "" {
		inner = "/"
	}
	path, err := url.PathUnescape(inner)
	if err != nil {
		view.Fail(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	inside := *r
	inside.URL, inside.RequestURI = &url.URL{Path: path, RawPath: inner, RawQuery: r.URL.RawQuery}, ""
	s.serve(w, &inside)
}
