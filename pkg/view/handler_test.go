package view

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// fixed are members that never change.
type fixed map[string]*Member

func (f fixed) Get(_ context.Context, name string) (*Member, error) { return f[name], nil }
func (f fixed) Has(name string) (time.Time, bool)                   { return time.Time{}, f[name] != nil }
func (f fixed) UID(string) types.UID                                { return "" }
func (f fixed) OnChange(func(string))                               {}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func handler(members fixed, upstream roundTrip) *Handler {
	return New(Config{
		Root: "root", Server: &url.URL{Scheme: "https", Host: "cluster", Path: "/k8s/clusters/c"}, Members: members,
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "root", Member: members.Has}), nil),
		Caller: func(*http.Request) (*Connection, error) { return &Connection{Transport: upstream}, nil },
	})
}

// The answer to a request in flight is that of any later one, and not an empty success.
func TestARequestInANamespaceThatLeavesIsNotFound(t *testing.T) {
	present, leave := context.WithCancel(t.Context())
	h := handler(fixed{"a": {Present: present}}, func(r *http.Request) (*http.Response, error) {
		leave()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/pods", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `namespaces \"a\" not found`) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// Nobody but the cluster's administrators may get a namespace after its RoleBindings are deleted.
func TestANamespaceThatIsDeletedIsNotForbidden(t *testing.T) {
	for _, c := range []struct {
		deleting         bool
		cluster, answers int
	}{
		{true, http.StatusForbidden, http.StatusNotFound},
		{true, http.StatusOK, http.StatusOK},
		{false, http.StatusForbidden, http.StatusForbidden},
	} {
		h := handler(fixed{"a": {Present: t.Context(), Deleting: c.deleting}}, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: c.cluster, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}}, nil
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a", nil))
		if w.Code != c.answers || w.Code == http.StatusNotFound && !strings.Contains(w.Body.String(), `namespaces \"a\" not found`) {
			t.Errorf("deleting %t: %d becomes %d %s, want %d", c.deleting, c.cluster, w.Code, w.Body, c.answers)
		}
	}
}

func TestWhatReachesKubeAPIServer(t *testing.T) {
	h := handler(fixed{"a": {Present: t.Context()}}, func(r *http.Request) (*http.Response, error) {
		if got := r.URL.String(); got != "https://cluster/k8s/clusters/c/apis/example.com/v1/namespaces/a/roles/system%3Ax%20y?limit=5" {
			t.Errorf("requested %s", got)
		}
		for name := range r.Header {
			if name != "Accept" && name != "User-Agent" && name != "Audit-Id" {
				t.Errorf("the header %s reaches kube-apiserver", name)
			}
		}
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("x")), Header: http.Header{}}, nil
	})
	r := httptest.NewRequest(http.MethodGet, "/apis/example.com/v1/namespaces/a/roles/system%3Ax%20y?limit=5", nil)
	for _, name := range []string{"Accept", "Audit-Id", "Authorization", "Cookie", "Forwarded", "X-Forwarded-For", "Proxy-Authorization", "X-Other"} {
		r.Header.Set(name, "x")
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Body.String() != "x" {
		t.Errorf("got %s", w.Body)
	}
}

func TestAnUnreachableKubeAPIServerIsUnavailable(t *testing.T) {
	h := handler(fixed{"a": {Present: t.Context()}}, func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") })
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/pods", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
}

// What a server has answered does not fill the log.
func TestErrorsOfTheClusterAreShortened(t *testing.T) {
	h := handler(fixed{"a": {Present: t.Context()}}, func(*http.Request) (*http.Response, error) {
		return nil, errors.New(strings.Repeat("long ", 1<<20))
	})
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/pods", nil)); w.Body.Len() > 64<<10 {
		t.Errorf("the response has %d bytes", w.Body.Len())
	}
}

func TestPathsAreValidated(t *testing.T) {
	h := handler(fixed{"a": {Present: t.Context()}, "proxy": {Present: t.Context()}}, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
	})
	for path, want := range map[string]int{
		"/api/v1/namespaces/a/pods/":                                     http.StatusOK,
		"/api/v1/namespaces/a/services/x/proxy/a%2Fb//c;d/..":            http.StatusOK,
		"/api/v1/namespaces/proxy/services/x/proxy/a%2Fb//c;d":           http.StatusOK,
		"/api/v1/namespaces/proxy/services%2Fx%2Fproxy":                  http.StatusBadRequest,
		"/api/v1/namespaces/proxy/services/x%2F..%2Fy/proxy/":            http.StatusBadRequest,
		"/api/v1/namespaces/a/pods/x;y":                                  http.StatusBadRequest,
		"/api/v1/namespaces/a/pods/..":                                   http.StatusBadRequest,
		"/api/v1/namespaces/a/../b/pods":                                 http.StatusBadRequest,
		"/api/v1/namespaces/a/pods/%252e%252e":                           http.StatusBadRequest,
		"/api/v1/namespaces/a//pods":                                     http.StatusBadRequest,
		"/api/v1/watch/namespaces/a/pods":                                http.StatusBadRequest,
		"/api/v1/proxy/namespaces/a/services/x":                          http.StatusBadRequest,
		"/apis/apps/v1/watch/deployments":                                http.StatusBadRequest,
		"/apis/resources.hnc.x-k8s.io/v1alpha2/namespaces/a/pods":        http.StatusForbidden,
		"/apis/view.hnc.x-k8s.io/v1alpha1/namespaces/a/tenantviews/view": http.StatusForbidden,
		"/api/v1/namespaces/b/pods":                                      http.StatusNotFound,
		"/metrics":                                                       http.StatusNotFound,
		"/version":                                                       http.StatusOK,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		u, err := url.ParseRequestURI(path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = u
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: got %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}

// A query that cannot be parsed is rejected before it is logged. Those of the tenant's own servers are theirs.
func TestQueriesOfListsAreValidated(t *testing.T) {
	h := handler(fixed{"a": {Present: t.Context()}}, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
	})
	for path, want := range map[string]int{
		"/api/v1/namespaces/a/pods?limit=x":                  http.StatusBadRequest,
		"/api/v1/namespaces/a/pods?watch=true&limit=x":       http.StatusBadRequest,
		"/api/v1/namespaces/a/pods?labelSelector=,,":         http.StatusBadRequest,
		"/api/v1/namespaces/a/pods?limit=5&labelSelector=a":  http.StatusOK,
		"/api/v1/namespaces/a/services/x/proxy/list?limit=x": http.StatusOK,
	} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != want {
			t.Errorf("%s: got %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}

// What a stream was asked for with stays in memory as long as the stream.
func TestLongURLsAndHeadersAreRejected(t *testing.T) {
	h := handler(fixed{"a": {Present: t.Context()}}, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
	})
	long := func(n int) string { return strings.Repeat("a", n) }
	for name, test := range map[string]struct {
		path string
		want int
	}{
		"the longest query": {"/api/v1/namespaces/a/pods?watch=1&a=" + long(64<<10-10), http.StatusOK},
		"a longer query":    {"/api/v1/namespaces/a/pods?watch=1&a=" + long(64<<10-9), http.StatusBadRequest},
		"a long path":       {"/api/v1/namespaces/a/pods/x/proxy/" + long(64<<10), http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, test.path, nil)); w.Code != test.want {
			t.Errorf("%s: got %d %s, want %d", name, w.Code, w.Body, test.want)
		}
	}
	for n, want := range map[int]int{64 << 10: http.StatusOK, 64<<10 + 1: http.StatusBadRequest} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/pods?watch=1", nil)
		r.Header["X"] = []string{long(n - 10 - 2*64), long(8)}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("headers of %d bytes: got %d %s, want %d", n, w.Code, w.Body, want)
		}
	}
}

// Short headers need more memory than they have bytes.
func TestManyShortHeadersAreRejected(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/pods?watch=1", nil)
	r.Header["X"] = make([]string, 1024)
	w := httptest.NewRecorder()
	if handler(fixed{"a": {Present: t.Context()}}, nil).ServeHTTP(w, r); w.Code != http.StatusBadRequest {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// Nobody reads the body of a watch, which would stay in memory as long as the watch.
func TestBodiesOfReadsAreNotForwarded(t *testing.T) {
	var called bool
	var forwarded io.ReadCloser
	h := handler(fixed{"a": {Present: t.Context()}}, func(r *http.Request) (*http.Response, error) {
		called, forwarded = true, r.Body
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
	})
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/pods?watch=1", strings.NewReader("endless")))
	if !called || forwarded != nil && forwarded != http.NoBody {
		t.Errorf("the request is forwarded: %t, with the body %v", called, forwarded)
	}
}

// deadlines records the deadlines of reading.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(deadline time.Time) error {
	d.set = append(d.set, deadline)
	return nil
}

// A client that stops sending its body does not keep it in memory.
func TestBodiesHaveADeadline(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	released := false
	b := &counted{release: func() { released = true }}
	c := &call{w: w, r: httptest.NewRequest(http.MethodPost, "/", strings.NewReader("body")), budget: b}
	body, err := c.readBody()
	if err != nil || string(body) != "body" || b.bodies != 4 || released || len(c.releases) != 1 {
		t.Errorf("got %q, %v; %d bytes are reserved", body, err, b.bodies)
	}
	if len(w.set) != 2 || time.Until(w.set[0]) > bodyTimeout || !w.set[1].IsZero() {
		t.Errorf("the deadlines are %v", w.set)
	}
	c.r = httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("body")))
	if _, err := c.readBody(); err != nil || b.bodies != 4+mapping.MaxRequest {
		t.Errorf("without a length: %v; %d bytes are reserved", err, b.bodies)
	}
	c.r = httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	c.r.ContentLength = mapping.MaxRequest + 1
	if _, err := c.readBody(); err == nil {
		t.Error("a body that is too large is read")
	}
}
