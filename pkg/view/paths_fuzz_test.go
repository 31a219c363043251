package view

import (
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// pathParts are what paths are made of: what routes, what is a member, and what readers of paths disagree about.
var pathParts = []string{
	"api", "apis", "v1", "v1beta1", "apps", "hnc.x-k8s.io", "resources.hnc.x-k8s.io", "rbac.authorization.k8s.io", "authorization.k8s.io",
	"namespaces", "default", "dev", "acme", "acme-dev", "other", "other.external", "acme.external", "...external", "kube-system", "pods", "secrets", "nodes", "proxy", "exec", "status",
	"finalize", "watch", "subnamespaces", "mynamespaces", "selfsubjectaccessreviews", "storageclasses", "persistentvolumes", "hierarchies", "..", ".", "", "%2e%2e", "%2F", "dev%2F..%2Fother",
	"clusterroles", "clusterrolebindings", "roles", "rolebindings", "admin", "system:x", "view:acme:x", "subjectaccessreviews",
	"a;b", ";", "%00", "%25", "%64ev", "DEV", "openapi", "version", "*", "\\", "x y", "é",
}

// forRandomPaths calls a function with count requests, always the same.
func forRandomPaths(count int, do func(method, path string, relative bool)) {
	random := rand.New(rand.NewSource(1))
	methods := []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "LIST", "CONNECT"}
	for range count {
		var path strings.Builder
		if random.Intn(3) == 0 {
			path.WriteString([]string{"/api/v1/namespaces", "/apis/apps/v1/namespaces", "/apis/hnc.x-k8s.io/v1beta1/namespaces", "/apis/rbac.authorization.k8s.io/v1"}[random.Intn(4)])
		}
		for range 1 + random.Intn(7) {
			path.WriteString("/" + pathParts[random.Intn(len(pathParts))])
		}
		do(methods[random.Intn(len(methods))], path.String(), random.Intn(2) == 0)
	}
}

// A subtest for each path would take longer than the request.
func TestPathsStayInTheView(t *testing.T) {
	forRandomPaths(4000, func(method, path string, relative bool) { checkPath(t, method, path, relative) })
}

// FuzzPaths sends any method and path to a view.
func FuzzPaths(f *testing.F) {
	forRandomPaths(200, func(method, path string, relative bool) { f.Add(method, path, relative) })
	f.Add(http.MethodGet, "/apis/hnc.x-k8s.io/v1beta1/namespaces/default/subnamespaces/...external", true)
	f.Fuzz(checkPath)
}

// checkPath sends a request to a view. What reaches kube-apiserver is about a namespace of the view, about its subtree,
// or about nothing that has a namespace.
func checkPath(t *testing.T, method, path string, relative bool) {
	if !strings.HasPrefix(path, "/") || method == "" || strings.ContainsAny(method, " \t\r\n") {
		return
	}
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return
	}
	r, err := http.NewRequest(method, "https://view/", strings.NewReader("{}"))
	if err != nil {
		return
	}
	r.URL = u
	members := fixed{"acme": {Present: t.Context()}, "acme-dev": {Present: t.Context(), Parent: "acme"}, "plain": {Present: t.Context(), Parent: "acme"}}
	var h *Handler
	h = New(Config{
		Root: "acme", Projected: []schema.GroupResource{{Resource: "persistentvolumes"}}, Server: &url.URL{Scheme: "https", Host: "cluster"}, Members: members,
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "acme", Relative: relative, Prefix: "acme-", Member: members.Has, External: []string{"kube-system"}}), nil),
		Caller: func(*http.Request) (*Connection, error) {
			return &Connection{Transport: roundTrip(func(up *http.Request) (*http.Response, error) {
				checkUpstream(t, h, method, path, relative, up)
				return &http.Response{StatusCode: http.StatusNotFound, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{"Content-Type": {"application/json"}}}, nil
			})}, nil
		},
	})
	h.Kinds = &Kinds{known: someKinds, refreshed: farFuture}
	h.ServeHTTP(httptest.NewRecorder(), r)
}

// checkUpstream reports a request to kube-apiserver that is about more than the view.
func checkUpstream(t *testing.T, h *Handler, method, path string, relative bool, up *http.Request) {
	t.Helper()
	infos := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := infos.NewRequestInfo(up)
	if err != nil {
		t.Errorf("%s %s (relative %t) becomes %s, which kube-apiserver cannot read: %v", method, path, relative, up.URL, err)
		return
	}
	resource := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	switch {
	case info.Subresource == "proxy":
	case slices.Contains(strings.Split(up.URL.Path, "/"), ".."):
		t.Errorf("%s %s (relative %t) becomes %s", method, path, relative, up.URL)
	}
	switch {
	case !info.IsResourceRequest:
	case info.Namespace != "":
		if !slices.Contains([]string{"acme", "acme-dev", "plain"}, info.Namespace) {
			t.Errorf("%s %s (relative %t) is about namespace %q: %s", method, path, relative, info.Namespace, up.URL)
		}
	case h.ruleOf(resource) == rules.ReadOnly && info.Subresource == "" && readVerbs.Has(info.Verb), h.ruleOf(resource) == rules.Review:
	case resource.Resource == rbac.ClusterRoles && info.Verb == "get" && rbac.OfCluster(info.Name):
	default:
		t.Errorf("%s %s (relative %t) is about the cluster: %s", method, path, relative, up.URL)
	}
}
