package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// connect returns the connection of a gateway to a server that speaks HTTP/2, and a request to it.
func connect(t *testing.T, handler http.HandlerFunc) (*view.Connection, *http.Request) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	connection, _, err := view.Connect(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	clientconfig.BoundBuffers(connection.Transport)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return connection, request
}

// What a client does not read stays in the server that sends it.
func TestResponsesThatNobodyReadsAreNotBuffered(t *testing.T) {
	written := make(chan int, 1)
	connection, request := connect(t, func(w http.ResponseWriter, _ *http.Request) {
		control, n := http.NewResponseController(w), 0
		for chunk := make([]byte, 4<<10); n < 16<<20; n += len(chunk) {
			// Fails when nothing can be sent any more.
			_ = control.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := w.Write(chunk); err != nil || control.Flush() != nil {
				break
			}
		}
		written <- n
	})
	response, err := connection.Transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.ProtoMajor != 2 {
		t.Fatalf("the protocol is %s", response.Proto)
	}
	if n := <-written; n > 2*clientconfig.StreamBuffer {
		t.Errorf("%d bytes were sent", n)
	}
}

// The headers of a response can be those of a tenant's server, and stay in memory as long as it. Above the limit they
// end nothing but their request.
func TestHeadersOfProgramsAreBounded(t *testing.T) {
	for size, accepted := range map[int]bool{32 << 10: true, 200 << 10: false} {
		connection, request := connect(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["X"] = []string{strings.Repeat("x", size)}
		})
		response, err := connection.As(transport.ImpersonationConfig{UserName: "jane"}).Programs.RoundTrip(request)
		if (err == nil) != accepted {
			t.Errorf("headers of %d bytes: %v", size, err)
		}
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.ProtoMajor != 1 {
			t.Errorf("the protocol is %s, whose connections all requests share", response.Proto)
		}
	}
}
