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
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// changing are members that join and leave.
type changing struct {
	mu      sync.Mutex
	created map[string]time.Time
	changed func(string)
}

func (m *changing) Get(_ context.Context, name string) (*Member, error) {
	if _, ok := m.Has(name); !ok {
		return nil, nil
	}
	return &Member{Present: context.Background()}, nil
}

func (m *changing) Has(name string) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	created, ok := m.created[name]
	return created, ok
}

func (m *changing) UID(string) types.UID { return "" }

func (m *changing) OnChange(changed func(string)) { m.changed = changed }

func (m *changing) set(name string, second int64) {
	m.mu.Lock()
	m.created[name] = time.Unix(second, 0)
	m.mu.Unlock()
	m.changed(name)
}

func (m *changing) remove(name string) {
	m.mu.Lock()
	delete(m.created, name)
	m.mu.Unlock()
	m.changed(name)
}

// A request by a name never goes on in another namespace that gets the name.
func TestRequestsEndWhenTheirNameMeansAnotherNamespace(t *testing.T) {
	const inX, inY, inTwo, across = "/api/v1/namespaces/x/pods", "/api/v1/namespaces/y/pods?watch=1", "/api/v1/namespaces/two/pods", "/api/v1/pods?watch=1"
	for _, test := range []struct {
		what, path string
		change     func(*changing)
		ends       bool
	}{
		{"a later one joins", inX, func(m *changing) { m.set("acme-x", 9) }, false},
		{"an earlier one joins", inX, func(m *changing) { m.set("acme-x", 1) }, true},
		{"one with another name joins", inY, func(m *changing) { m.set("acme-x", 1) }, false},
		{"an earlier one joins, and a watch", inY, func(m *changing) { m.set("acme-y", 1) }, true},
		{"a later one joins, and a watch across the view", across, func(m *changing) { m.set("acme-x", 9) }, true},
		{"one without a rival joins, and a watch across the view", across, func(m *changing) { m.set("acme-z", 9) }, false},
		{"the first of two leaves, and a watch across the view", across, func(m *changing) { m.remove("two") }, true},
		{"the first of two is replaced", inTwo, func(m *changing) { m.set("two", 9) }, true},
		{"the first of two is replaced, and a watch across the view", across, func(m *changing) { m.set("two", 9) }, true},
	} {
		t.Run(test.what, func(t *testing.T) {
			members := &changing{created: map[string]time.Time{"x": time.Unix(5, 0), "y": time.Unix(5, 0), "two": time.Unix(5, 0), "acme-two": time.Unix(6, 0)}}
			started := make(chan context.Context, 1)
			h := New(Config{
				Root: "acme", Server: &url.URL{Scheme: "https", Host: "cluster"}, Members: members, Kinds: &Kinds{known: someKinds, refreshed: farFuture},
				Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "acme", Relative: true, Prefix: "acme-", Member: members.Has}), nil),
				Caller: func(*http.Request) (*Connection, error) {
					return &Connection{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
						body, writer := io.Pipe()
						context.AfterFunc(r.Context(), func() { _ = writer.CloseWithError(r.Context().Err()) })
						started <- r.Context()
						return &http.Response{StatusCode: http.StatusOK, Body: body, Header: http.Header{"Content-Type": {"application/json"}}}, nil
					})}, nil
				},
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w, done := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }() // how ReverseProxy closes a connection
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, test.path, nil))
			}()
			upstream := <-started
			means := h.meanings.of(map[string]string{inX: "x", inY: "y", inTwo: "two"}[test.path])
			test.change(members)
			if ended := means.Err() != nil; ended != test.ends {
				t.Fatalf("the request has to end: %t", ended)
			}
			if test.ends {
				<-upstream.Done()
			}
			cancel()
			<-done
			if expired := strings.Contains(w.Body.String(), `"type":"ERROR","object":{"kind":"Status","apiVersion":"v1",`) && strings.Contains(w.Body.String(), `"reason":"Expired"`); expired != (test.ends && strings.Contains(test.path, "watch")) {
				t.Errorf("the response ends with %s", w.Body)
			}
		})
	}
}
