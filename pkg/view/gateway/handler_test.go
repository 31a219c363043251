package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// newGateway returns a gateway with a view of a, with real names, in front of a server.
func newGateway(t *testing.T, server roundTrip) *Gateway {
	t.Helper()
	g := &Gateway{Config: Config{Harmless: sets.New[string]()}, connection: &view.Connection{Transport: server}}
	g.Views = &Views{
		Tree: newTree(t), Server: &url.URL{Scheme: "https", Host: "cluster"}, Caller: g.caller, Limits: Limits{Requests: 1, Streams: 1, AllStreams: 1},
		Usable: func() error { return nil },
	}
	g.Tree.set(ns("a", "1"))
	g.set(tenantView(1))
	return g
}

func tenantView(generation int64) *v1alpha3.TenantView {
	return &v1alpha3.TenantView{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: hnc.TenantViewSingleton, UID: "1", Generation: generation},
		Spec:       v1alpha3.TenantViewSpec{Names: v1alpha3.NamesReal},
	}
}

// get sends a request as a user whom kube-apiserver has authenticated and authorized.
func get(ctx context.Context, t *testing.T, g *Gateway, u user.Info, path string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(request.WithUser(ctx, u), http.MethodGet, path, nil)
	info, err := (&request.RequestInfoFactory{APIPrefixes: sets.NewString("apis")}).NewRequestInfo(r)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r.WithContext(request.WithRequestInfo(r.Context(), info)))
	return w.Code, w.Body.String()
}

var jane = &user.DefaultInfo{Name: "jane", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"example.com/team": {"x"}}}

func TestRequestsGoToKubeAPIServerAsTheirCallers(t *testing.T) {
	g := newGateway(t, func(r *http.Request) (*http.Response, error) {
		for name, want := range map[string]string{
			"Impersonate-User": "jane", "Impersonate-Uid": "7", "Impersonate-Group": "dev", "Impersonate-Extra-Example.com%2fteam": "x", "Authorization": "",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		return answer(r.URL.RequestURI()), nil
	})
	for path, want := range map[string]string{
		"/api/v1/namespaces/a/pods?limit=1":          "/api/v1/namespaces/a/pods?limit=1",
		"/api/v1/namespaces/a/configmaps/system%3Ax": "/api/v1/namespaces/a/configmaps/system%3Ax",
		"/version": "/version",
		"/apis/apps/v1/namespaces/a/deployments/x/y/": "/apis/apps/v1/namespaces/a/deployments/x/y/",
	} {
		if code, body := get(t.Context(), t, g, jane, hnc.ViewPath("a")+path); code != http.StatusOK || body != want {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
}

func TestWhatIsNoViewIsNotFound(t *testing.T) {
	g := newGateway(t, func(r *http.Request) (*http.Response, error) { return nil, errors.New("sent " + r.URL.Path) })
	for _, path := range []string{
		hnc.ViewPath("b") + "/api", strings.TrimSuffix(hnc.ViewPath("a"), "/proxy"), hnc.ViewPath("a") + "x/api", strings.Replace(hnc.ViewPath("a"), "/view/", "/other/", 1),
		hnc.ViewPath("a") + "/api/v1/namespaces/b/pods", "/apis/view.hnc.x-k8s.io/v2", "/apis/other",
	} {
		if code, body := get(t.Context(), t, g, jane, path); code != http.StatusNotFound {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
	for _, path := range []string{"/../../b/tenantviews/view/proxy/api", "//api", "/api/v1/namespaces/a/..%2f../b"} {
		if code, body := get(t.Context(), t, g, jane, hnc.ViewPath("a")+path); code != http.StatusBadRequest && code != http.StatusNotFound {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
}

func TestDiscoveryOfTheGateway(t *testing.T) {
	g := newGateway(t, nil)
	for _, path := range []string{"/apis", "/apis/view.hnc.x-k8s.io", "/apis/view.hnc.x-k8s.io/v1alpha1"} {
		if code, body := get(t.Context(), t, g, jane, path); code != http.StatusOK || !strings.Contains(body, "view.hnc.x-k8s.io") {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
	if code, body := get(t.Context(), t, g, &user.DefaultInfo{Name: "root", Groups: []string{"system:masters"}}, hnc.ViewPath("a")+"/api"); code != http.StatusForbidden || !strings.Contains(body, "--as") {
		t.Errorf("an administrator: got %d %s", code, body)
	}
}

func TestNothingIsServedWithoutConstrainedImpersonation(t *testing.T) {
	g := newGateway(t, nil)
	g.Usable = func() error { return errors.New("kube-apiserver is too old") }
	for _, path := range []string{"/apis/view.hnc.x-k8s.io/v1alpha1", hnc.ViewPath("a") + "/version"} {
		if code, body := get(t.Context(), t, g, jane, path); code != http.StatusServiceUnavailable || !strings.Contains(body, "too old") {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
}

// A view has its own limits, one for requests and one for streams.
func TestTooManyRequestsOfAViewAreRejected(t *testing.T) {
	started, end := make(chan struct{}), make(chan struct{})
	g := newGateway(t, func(r *http.Request) (*http.Response, error) {
		started <- struct{}{}
		<-end
		return answer(""), nil
	})
	path := hnc.ViewPath("a") + "/api/v1/namespaces/a/pods"
	codes := make(chan int)
	for _, query := range []string{"", "?watch=true"} {
		go func() { code, _ := get(t.Context(), t, g, jane, path+query); codes <- code }()
		<-started
		if code, body := get(t.Context(), t, g, jane, path+query); code != http.StatusTooManyRequests || !strings.Contains(body, `"retryAfterSeconds":1`) {
			t.Errorf("%q: got %d %s", query, code, body)
		}
	}
	close(end)
	for range 2 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("a request within the limits: got %d", code)
		}
	}
	if code, _ := get(t.Context(), t, g, jane, hnc.ViewPath("a")+"/api/v1/namespaces/b/pods"); code != http.StatusNotFound {
		t.Errorf("after all requests have ended: got %d", code)
	}
}

func TestRequestsEndWithTheirView(t *testing.T) {
	for name, change := range map[string]func(*Gateway){
		"changed": func(g *Gateway) { g.set(tenantView(2)) },
		"deleted": func(g *Gateway) { g.remove("a") },
		"being deleted": func(g *Gateway) {
			v, now := tenantView(1), metav1.Now()
			v.DeletionTimestamp = &now
			g.set(v)
		},
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan struct{})
			g := newGateway(t, func(r *http.Request) (*http.Response, error) {
				close(started)
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
			done := make(chan int)
			go func() {
				code, _ := get(t.Context(), t, g, jane, hnc.ViewPath("a")+"/api/v1/namespaces/a/pods?watch=1")
				done <- code
			}()
			<-started
			g.set(tenantView(1)) // as it is
			change(g)
			if code := <-done; code != http.StatusServiceUnavailable {
				t.Errorf("got %d", code)
			}
		})
	}
}
