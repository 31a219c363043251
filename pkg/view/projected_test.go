package view

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

var (
	gadgets  = schema.GroupResource{Group: "example.com", Resource: "gadgets"}
	services = schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	token    = schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"}
)

// projecting returns the handler of a view that projects kinds, in front of a cluster that has cluster-scoped gadgets
// and APIServices.
func projecting(upstream roundTrip, resources ...schema.GroupResource) *Handler {
	known := map[schema.GroupVersionResource]kind{}
	for _, resource := range []schema.GroupResource{gadgets, services, token} {
		known[resource.WithVersion("v1")] = kind{schema.GroupVersionKind{Group: resource.Group, Version: "v1", Kind: "Any"}, false}
	}
	members := fixed{}
	return New(Config{
		Root: "acme", Server: &url.URL{Scheme: "https", Host: "cluster"}, Members: members, Kinds: &Kinds{known: known, refreshed: farFuture}, Projected: resources,
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "acme", Relative: true, Prefix: "acme-", Member: members.Has}), nil),
		Caller: func(*http.Request) (*Connection, error) { return &Connection{Transport: upstream}, nil },
	})
}

func send(h *Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, path, strings.NewReader("{}")), httptest.NewRecorder()
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	h.ServeHTTP(w, r)
	return w
}

// A projected kind is read as the cluster has it, in the view that projects it, and not written.
func TestProjectedKindsAreReadOnly(t *testing.T) {
	upstream := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(r.Method + " " + r.URL.RequestURI())), Header: http.Header{}}, nil
	}
	const list, one = "/apis/example.com/v1/gadgets", "/apis/example.com/v1/gadgets/a"
	with, without := projecting(upstream, gadgets, services, token), projecting(upstream)
	for _, test := range []struct {
		method, path string
		code         int
		body         string
	}{
		{http.MethodGet, one, http.StatusOK, "GET " + one},
		{http.MethodGet, list + "?limit=5", http.StatusOK, "GET " + list + "?limit=5"},
		{http.MethodGet, list + "?watch=true", http.StatusOK, "GET " + list + "?watch=true"},
		{http.MethodGet, one + "/status", http.StatusNotFound, "could not find"},
		{http.MethodPost, list, http.StatusForbidden, errReadOnly.Error()},
		{http.MethodPut, one, http.StatusForbidden, errReadOnly.Error()},
		{http.MethodPatch, one, http.StatusForbidden, errReadOnly.Error()},
		{http.MethodDelete, one, http.StatusForbidden, errReadOnly.Error()},
		{http.MethodDelete, list, http.StatusForbidden, errReadOnly.Error()},
		{http.MethodGet, "/apis/apiregistration.k8s.io/v1/apiservices", http.StatusForbidden, "not part of a view"},
		{http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", http.StatusForbidden, "not part of a view"},
	} {
		if w := send(with, test.method, test.path); w.Code != test.code || !strings.Contains(w.Body.String(), test.body) {
			t.Errorf("%s %s: got %d %s", test.method, test.path, w.Code, w.Body)
		}
		if w := send(without, test.method, test.path); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "not part of a view") {
			t.Errorf("%s %s of a view without it: got %d %s", test.method, test.path, w.Code, w.Body)
		}
	}
}

// documents answers requests with a document and an entity tag as kube-apiserver does.
func documents(t *testing.T, document any) roundTrip {
	t.Helper()
	content, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request) (*http.Response, error) {
		header := http.Header{"Etag": {`"ABC"`}, "Content-Type": {"application/json"}, "Requested": {r.URL.RequestURI()}}
		if r.Header.Get("If-None-Match") == `"ABC"` || r.Header.Get("If-Modified-Since") != "" {
			return &http.Response{StatusCode: http.StatusNotModified, Header: header, Body: http.NoBody}, nil
		}
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(string(content)))}, nil
	}
}

func TestDiscoveryShowsProjectedKinds(t *testing.T) {
	verbs := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	resources := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "example.com/v1", APIResources: []metav1.APIResource{
		{Name: "gadgets", Kind: "Gadget", Verbs: verbs}, {Name: "gadgets/status", Kind: "Gadget", Verbs: verbs}, {Name: "others", Kind: "Other", Verbs: verbs},
	}}
	aggregated := apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList"}, Items: []apidiscovery.APIGroupDiscovery{
		{ObjectMeta: metav1.ObjectMeta{Name: "example.com"}, Versions: []apidiscovery.APIVersionDiscovery{{Version: "v1", Resources: []apidiscovery.APIResourceDiscovery{
			{Resource: "gadgets", Scope: apidiscovery.ScopeCluster, Verbs: verbs, Subresources: []apidiscovery.APISubresourceDiscovery{{Subresource: "status", Verbs: verbs}}},
			{Resource: "others", Scope: apidiscovery.ScopeCluster, Verbs: verbs},
		}}}},
	}}
	get := func(path string, document, into any, projected ...schema.GroupResource) {
		t.Helper()
		if w := send(projecting(documents(t, document), projected...), http.MethodGet, path); w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), into) != nil {
			t.Fatalf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	var list, none metav1.APIResourceList
	get("/apis/example.com/v1", resources, &list, gadgets)
	get("/apis/example.com/v1", resources, &none)
	if len(none.APIResources) != 0 || len(list.APIResources) != 1 || !slices.Equal(list.APIResources[0].Verbs, metav1.Verbs{"get", "list", "watch"}) {
		t.Errorf("the resources are %v, and %v without projected ones", list.APIResources, none.APIResources)
	}
	var groups, noGroups apidiscovery.APIGroupDiscoveryList
	get("/apis", aggregated, &groups, gadgets)
	get("/apis", aggregated, &noGroups)
	if len(noGroups.Items) != 0 || len(groups.Items) != 1 || len(groups.Items[0].Versions[0].Resources) != 1 {
		t.Fatalf("the groups are %v, and %v without projected ones", groups.Items, noGroups.Items)
	}
	if r := groups.Items[0].Versions[0].Resources[0]; !slices.Equal(r.Verbs, []string{"get", "list", "watch"}) || r.Subresources != nil {
		t.Errorf("aggregated discovery has %v", r)
	}
}

// Clients keep documents by their tags and hashes. A view that projects other kinds has others.
func TestDocumentsOfOtherProjectionsAreNotReused(t *testing.T) {
	index := map[string]any{"paths": map[string]any{"apis/example.com/v1": map[string]any{"serverRelativeURL": "/openapi/v3/apis/example.com/v1?hash=ABC"}}}
	editions := map[string]string{}
	for name, projected := range map[string][]schema.GroupResource{"none": nil, "ignored": {services}, "gadgets": {gadgets}, "two": {gadgets, {Resource: "persistentvolumes"}}} {
		h := projecting(documents(t, index), projected...)
		w := send(h, http.MethodGet, "/openapi/v3")
		tag := w.Header().Get("Etag")
		hash, _, ok := strings.Cut(w.Body.String()[strings.Index(w.Body.String(), "hash=")+len("hash="):], `"`)
		if w.Code != http.StatusOK || !ok || tag != `"`+hash+`"` {
			t.Fatalf("%s: got %d, %s, %s", name, w.Code, tag, w.Body)
		}
		editions[name] = tag
		for _, test := range []struct {
			tags string
			code int
		}{{tag, http.StatusNotModified}, {`"ABC-0123456789abcdef"`, http.StatusOK}} {
			if w := send(h, http.MethodGet, "/openapi/v3", "If-None-Match", test.tags, "If-Modified-Since", "Mon, 02 Jan 2006 15:04:05 GMT"); w.Code != test.code || w.Header().Get("Etag") != tag {
				t.Errorf("%s: %s got %d, %s", name, test.tags, w.Code, w.Header())
			}
		}
		for query, want := range map[string]string{"?hash=" + hash: "?hash=ABC", "": ""} {
			if w := send(h, http.MethodGet, "/openapi/v3/apis/example.com/v1"+query); w.Header().Get("Requested") != "/openapi/v3/apis/example.com/v1"+want {
				t.Errorf("%s: %q requested %s", name, query, w.Header())
			}
		}
	}
	if editions["none"] != `"ABC"` || editions["ignored"] != `"ABC"` || editions["gadgets"] == `"ABC"` || editions["gadgets"] == editions["two"] {
		t.Errorf("the tags are %v", editions)
	}
	h := projecting(documents(t, index), gadgets)
	if w := send(h, http.MethodGet, "/openapi/v3", "If-None-Match", `"ABC"`); w.Code != http.StatusOK {
		t.Errorf("with the tag of another edition: got %d", w.Code)
	}
	if w := send(h, http.MethodGet, "/openapi/v3/apis/example.com/v1?hash=ABC"); w.Header().Get("Requested") != "/openapi/v3/apis/example.com/v1" {
		t.Errorf("with the hash of another edition: requested %s", w.Header())
	}
}

func TestOpenAPIShowsProjectedKinds(t *testing.T) {
	paths := map[string]any{"paths": map[string]any{"/apis/example.com/v1/gadgets": map[string]any{}, "/apis/example.com/v1/gadgets/{name}": map[string]any{}}}
	for _, path := range []string{"/openapi/v2", "/openapi/v3/apis/example.com/v1"} {
		for _, projected := range [][]schema.GroupResource{nil, {gadgets}} {
			w := send(projecting(documents(t, paths), projected...), http.MethodGet, path)
			if w.Code != http.StatusOK || strings.Count(w.Body.String(), "gadgets") != 2*len(projected) {
				t.Errorf("%s with %v: got %d %s", path, projected, w.Code, w.Body)
			}
		}
	}
}
