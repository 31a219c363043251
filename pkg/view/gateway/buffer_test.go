package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// connect returns the transport of a gateway to a server, over HTTP/2 or HTTP/1.1.
func connect(t *testing.T, http2 bool, handler http.HandlerFunc) (http.RoundTripper, *http.Request) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = http2
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
	return connection.Transport, request
}

// What a client does not read stays in the server that sends it.
func TestResponsesThatNobodyReadsAreNotBuffered(t *testing.T) {
	written := make(chan int, 1)
	transport, request := connect(t, true, func(w http.ResponseWriter, _ *http.Request) {
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
	response, err := transport.RoundTrip(request)
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

// The headers of a response can be those of a tenant's server, and stay in memory as long as it.
func TestHeadersOfResponsesAreBounded(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		for size, accepted := range map[int]bool{clientconfig.MaxHeaders - 1024: true, clientconfig.MaxHeaders + 1024: false} {
			transport, request := connect(t, http2, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["X"] = []string{strings.Repeat("x", size/2), strings.Repeat("x", size/2)}
			})
			response, err := transport.RoundTrip(request)
			if (err == nil) != accepted {
				t.Errorf("HTTP/2 %t: headers of %d bytes: %v", http2, size, err)
			}
			if err != nil {
				continue
			}
			_ = response.Body.Close()
			if (response.ProtoMajor == 2) != http2 {
				t.Errorf("the protocol is %s", response.Proto)
			}
		}
	}
}
