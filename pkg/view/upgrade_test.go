package view

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// upgrade serves a request for a stream by a server that answers with what a function writes.
func upgrade(ctx context.Context, t *testing.T, answer func(net.Conn)) *httptest.ResponseRecorder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		answer(conn)
	}()
	connection, server, err := Connect(&rest.Config{Host: "http://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	h := New(Config{
		Root: "root", Server: &url.URL{Scheme: server.Scheme, Host: server.Host}, Members: fixed{"root": {Present: t.Context()}},
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "root", Member: fixed{}.Has}), nil),
		Caller: func(*http.Request) (*Connection, error) { return connection, nil },
	})
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/namespaces/root/pods/x/proxy/", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A server of a tenant that accepts a connection and says nothing keeps nothing in the view when its client has left.
func TestAStreamWithoutAResponseEndsWithItsRequest(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	upgrade(ctx, t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		leave()
		_, _ = io.Copy(io.Discard, conn)
	})
}

// The headers of a response to an upgrade are kept in memory, and come from a server of the tenant.
func TestTheResponseToAnUpgradeIsBounded(t *testing.T) {
	header, written := []byte("X: "+strings.Repeat("x", 64<<10)+"\r\n"), 0
	w := upgrade(t.Context(), t, func(conn net.Conn) {
		_, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n")
		for ; err == nil && written < 64*maxAnswer; written += len(header) {
			_, err = conn.Write(header)
		}
	})
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), errAnswerTooLarge.Error()) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// The headers of their responses are bounded on a connection that nothing else uses.
func TestServersOfTenantsHaveConnectionsOfTheirOwn(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/namespaces/a/pods/x/proxy/index.html": "programs",
		"/api/v1/namespaces/a/services/x/proxy/":       "programs",
		"/api/v1/namespaces/a/pods/x/log":              "all",
	} {
		used := ""
		by := func(name string) http.RoundTripper {
			return roundTrip(func(*http.Request) (*http.Response, error) {
				used = name
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
			})
		}
		h := handler(fixed{"a": {Present: t.Context()}}, nil)
		h.Caller = func(*http.Request) (*Connection, error) {
			return (&Connection{Transport: by("all"), Programs: by("programs")}).As(transport.ImpersonationConfig{UserName: "jane"}), nil
		}
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		if used != want {
			t.Errorf("%s: the connection is %q, want %q", path, used, want)
		}
	}
}
