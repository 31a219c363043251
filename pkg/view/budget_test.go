package view

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// counted is a budget that counts what requests have had of it.
type counted struct {
	unlimited
	bodies, responses, documents int64
	release                      func()
}

func (c *counted) Body(_ context.Context, bytes int64) (func(), error) {
	c.bodies += bytes
	return c.release, nil
}

func (c *counted) Response(_ context.Context, bytes int64) (func(), error) {
	c.responses += bytes
	return c.release, nil
}

func (c *counted) Document(context.Context) (func(int64) error, func(), error) {
	return func(bytes int64) error { c.documents = bytes; return nil }, c.release, nil
}

// A document counts while it is changed, and until its client has read it.
func TestDocumentsOfAViewAreCounted(t *testing.T) {
	const document = `{"kind":"APIVersions","versions":["v1"]}`
	h := handler(fixed{}, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(document)), Header: http.Header{}}, nil
	})
	released := 0
	b := &counted{release: func() { released++ }}
	h.Budget = b
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api?watch=1", nil))
	if b.documents != int64(len(document)) || b.responses != int64(len(document)) || released != 2 {
		t.Errorf("%d bytes of documents and %d of responses are counted, %d released", b.documents, b.responses, released)
	}
}

// What responds to a write counts, and never has the client repeat it.
func TestResponsesToWritesAreCountedAsAnswers(t *testing.T) {
	role := `{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"r","namespace":"acme-x"},"rules":[` + strings.Repeat(`{"verbs":[""]},`, 1<<16) + `{}]}`
	h := relative(t, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(role)), Header: http.Header{"Content-Type": {"application/json"}}}, nil
	})
	for method, path := range map[string]string{http.MethodPatch: "/apis/rbac.authorization.k8s.io/v1/namespaces/x/roles/r", http.MethodDelete: "/api/v1/namespaces/x/pods/a"} {
		b := &answers{}
		h.Budget = b
		r := httptest.NewRequest(method, path, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/merge-patch+json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK || b.most < int64(len(role)) || b.bytes != 0 {
			t.Errorf("%s %s: got %d %.300s; of %d bytes, %d are counted, and %d are left", method, path, w.Code, w.Body, len(role), b.most, b.bytes)
		}
	}
}

// A patch whose object may not be in memory has not taken effect, and clients may repeat it.
func TestPatchesThatAreNotSentMayBeRepeated(t *testing.T) {
	role := `{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"view:acme:r","namespace":"acme"},"rules":[{"verbs":["` + strings.Repeat("x", 1<<20) + `"]}]}`
	h := relative(t, func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			t.Errorf("%s reaches kube-apiserver", r.Method)
		}
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(role)), Header: http.Header{"Content-Type": {"application/json"}}}, nil
	})
	h.Budget = &answers{}
	r := httptest.NewRequest(http.MethodPatch, "/apis/rbac.authorization.k8s.io/v1/clusterroles/r", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/merge-patch+json")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("got %d %.300s", w.Code, w.Body)
	}
}

// A Role as large as kube-apiserver can store it ends no list or watch.
func TestNoObjectIsTooLargeToBeServed(t *testing.T) {
	role := func(rules string) string {
		return `{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"view:acme:r","namespace":"acme","annotations":{"hnc.x-k8s.io/view-rules":"[{}]"}},"rules":[` + rules + `{}]}`
	}
	for name, large := range map[string]string{
		"few values":  role(strings.Repeat(`{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["`+strings.Repeat("x", 2<<10)+`"]},`, 2_500)),
		"many values": role(strings.Repeat(`{"verbs":[""],"apiGroups":[""],"resources":[""]},`, 190_000)),
	} {
		for _, test := range []struct{ method, path, before, after string }{
			{http.MethodGet, "clusterroles/r", "", ""},
			{http.MethodDelete, "clusterroles/r", "", ""},
			{http.MethodGet, "clusterroles", `{"kind":"RoleList","apiVersion":"rbac.authorization.k8s.io/v1","items":[{},`, `,{}]}`},
			{http.MethodGet, "clusterroles?watch=1", `{"type":"ADDED","object":`, "}\n" + `{"type":"BOOKMARK","object":{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{}}}`},
		} {
			h := relative(t, func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(test.before + large + test.after)), Header: http.Header{"Content-Type": {"application/json"}}}, nil
			})
			b := &perUser{}
			h.Budget = b
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(test.method, "/apis/rbac.authorization.k8s.io/v1/"+test.path, http.NoBody))
			if body := w.Body.String(); w.Code != http.StatusOK || len(body) < len(large)-200 || strings.Contains(body, `"code":`) || !strings.HasSuffix(strings.TrimSpace(body), test.after[strings.LastIndex(test.after, ",")+1:]) {
				t.Errorf("%s: %s %s: got %d and %d of %d bytes, which end with %s", name, test.method, test.path, w.Code, len(body), len(large), body[max(0, len(body)-300):])
			}
			if b.most < int64(len(large)) || b.bytes != 0 {
				t.Errorf("%s: %s %s: of %d bytes, %d are counted, and %d are left", name, test.method, test.path, len(large), b.most, b.bytes)
			}
		}
	}
}

// perUser is the budget of one user of a gateway.
type perUser struct {
	answers
	sending int64 // the most while something other than a GET was sent
}

func (p *perUser) Response(ctx context.Context, bytes int64) (func(), error) {
	p.mu.Lock()
	full := p.bytes+bytes > 2*MaxPart
	p.mu.Unlock()
	if full {
		return nil, apierrors.NewTooManyRequests("full", 1)
	}
	return p.answers.Answer(ctx, bytes)
}

func (p *perUser) Answer(ctx context.Context, bytes int64) (func(), error) {
	return p.Response(ctx, bytes)
}

// answers is a budget that has nothing but for what responds to writes, which it counts.
type answers struct {
	full
	mu          sync.Mutex
	bytes, most int64
}

func (a *answers) Answer(_ context.Context, bytes int64) (func(), error) {
	a.add(bytes)
	return func() { a.add(-bytes) }, nil
}

func (a *answers) add(bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes += bytes
	a.most = max(a.most, a.bytes)
}

// full is a budget that has nothing left for responses.
type full struct{ unlimited }

func (full) Response(context.Context, int64) (func(), error) {
	return nil, apierrors.NewTooManyRequests("full", 1)
}

// A view says so when it may not keep what it translates: in place of an object, and in a watch.
func TestLargeResponsesOfAViewAreCounted(t *testing.T) {
	pod := `{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"acme-x"},"spec":"` + strings.Repeat("x", 1<<20) + `"}`
	for path, test := range map[string]struct {
		body, ends string
		code       int
	}{
		"/api/v1/namespaces/x/pods/a?watch=1": {pod, `"code":429}`, http.StatusTooManyRequests},
		"/api/v1/namespaces/x/pods?watch=1":   {`{"type":"ADDED","object":` + pod + "}\n", `"code":429}}`, http.StatusOK},
	} {
		h := relative(t, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(test.body)), Header: http.Header{"Content-Type": {"application/json"}}}, nil
		})
		get := func(b Budget) *httptest.ResponseRecorder {
			h.Budget = b
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			return w
		}
		if w := get(full{}); w.Code != test.code || w.Body.Len() > 1<<10 || !strings.HasSuffix(strings.TrimSpace(w.Body.String()), test.ends) {
			t.Errorf("%s: got %d %.1000s", path, w.Code, w.Body)
		}
		b := &counted{release: func() {}}
		if w := get(b); w.Code != http.StatusOK || w.Body.Len() < 1<<20 || b.responses < 2<<20 {
			t.Errorf("%s: got %d and %d bytes; %d are counted", path, w.Code, w.Body.Len(), b.responses)
		}
	}
}

// A request that becomes too large with real names does not reach kube-apiserver, and what it grows by is counted.
func TestRequestsOfAViewDoNotGrowWithoutBounds(t *testing.T) {
	pod := func(ancestors int) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{"hnc.x-k8s.io/ancestry":"` + strings.Repeat("a.", ancestors) + `a"}}}`
	}
	for method, path := range map[string]string{
		http.MethodPost:  "/api/v1/namespaces/x/pods",
		http.MethodPut:   "/api/v1/namespaces/x/pods/a",
		http.MethodPatch: "/api/v1/namespaces/x/pods/a",
	} {
		var sent int64
		h := relative(t, func(r *http.Request) (*http.Response, error) {
			sent = r.ContentLength
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{"Content-Type": {"application/json"}}}, nil
		})
		send := func(b Budget, body string) *httptest.ResponseRecorder {
			h.Budget, sent = b, 0
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if method == http.MethodPatch {
				r.Header.Set("Content-Type", "application/merge-patch+json")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		if w := send(unlimited{}, pod(1<<20)); w.Code != http.StatusRequestEntityTooLarge || sent != 0 {
			t.Errorf("%s: got %d %.300s, and %d bytes are sent", method, w.Code, w.Body, sent)
		}
		released := 0
		b := &counted{release: func() { released++ }}
		if w := send(b, pod(1<<18)); w.Code != http.StatusOK || sent < 3<<19 || b.bodies < sent-128<<10 {
			t.Errorf("%s: got %d %.300s, %d bytes are sent, and %d are counted", method, w.Code, w.Body, sent, b.bodies)
		}
		if released < 2 {
			t.Errorf("%s: of %d bytes, %d parts are released", method, b.bodies, released)
		}
		if w := send(&atMost{bytes: 1 << 20}, pod(1<<18)); w.Code != http.StatusTooManyRequests || sent != 0 {
			t.Errorf("%s: got %d %.300s, and %d bytes are sent", method, w.Code, w.Body, sent)
		}
	}
}

// atMost is a budget for bodies.
type atMost struct {
	unlimited
	bytes int64
}

func (a *atMost) Body(_ context.Context, bytes int64) (func(), error) {
	if a.bytes -= bytes; a.bytes < 0 {
		return nil, apierrors.NewTooManyRequests("full", 1)
	}
	return func() {}, nil
}

// Selectors in a query get longer, too, and a watch keeps its URL.
func TestQueriesOfAViewDoNotGrowWithoutBounds(t *testing.T) {
	h := relative(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("a query of %d bytes reaches kube-apiserver", len(r.URL.RawQuery))
		return nil, io.EOF
	})
	w := httptest.NewRecorder()
	selector := url.QueryEscape("hnc.x-k8s.io/inherited-from in (a" + strings.Repeat(",a", 15000) + ")")
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/x/pods?watch=1&labelSelector="+selector, nil))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "shorten the selector") {
		t.Errorf("got %d %.300s", w.Code, w.Body)
	}
}

// relative returns a handler of the view of acme with relative names, which has the namespace acme-x.
func relative(t *testing.T, upstream roundTrip) *Handler {
	members := fixed{"acme-x": {Present: t.Context()}}
	return New(Config{
		Root: "acme", Server: &url.URL{Scheme: "https", Host: "cluster"}, Members: members, Kinds: &Kinds{known: someKinds, refreshed: farFuture},
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "acme", Relative: true, Prefix: "acme-", Member: members.Has}), nil),
		Caller: func(*http.Request) (*Connection, error) { return &Connection{Transport: upstream}, nil },
	})
}

// What passes in an upgraded connection is not translated, so only programs have those.
func TestAnUpgradeDoesNotEvadeTheTranslation(t *testing.T) {
	h := relative(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s %s reaches kube-apiserver", r.Method, r.URL)
		return nil, io.EOF
	})
	for path, method := range map[string]string{
		"/api/v1/namespaces/x/pods/a":        http.MethodGet,
		"/api/v1/namespaces/x/pods?watch=1":  http.MethodGet,
		"/api/v1/namespaces/x/pods":          http.MethodPost,
		"/api/v1/namespaces/x/pods/a/status": http.MethodPut,
		"/api/v1/nodes":                      http.MethodGet,
		"/api/v1/nodes?watch=1":              http.MethodGet,
		"/version":                           http.MethodGet,
	} {
		r := httptest.NewRequest(method, path, strings.NewReader("{}"))
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "leave out the header Upgrade") {
			t.Errorf("%s %s: got %d %.300s", method, path, w.Code, w.Body)
		}
	}
}

// Each upgrade opens a connection, which a view bounds as a stream.
func TestOnlyStreamsAreUpgraded(t *testing.T) {
	h := handler(fixed{"a": {Present: t.Context()}}, nil)
	for _, path := range []string{"/version", "/api/v1/namespaces/a/pods/x", "/api/v1/namespaces/a/pods/x/log"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "leave out the header Upgrade") {
			t.Errorf("%s: got %d %.300s", path, w.Code, w.Body)
		}
	}
}
