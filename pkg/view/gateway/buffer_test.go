package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// What a client does not read stays in the server that sends it.
func TestResponsesThatNobodyReadsAreNotBuffered(t *testing.T) {
	written := make(chan int, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control, n := http.NewResponseController(w), 0
		for chunk := make([]byte, 4<<10); n < 16<<20; n += len(chunk) {
			// Fails when nothing can be sent any more.
			_ = control.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := w.Write(chunk); err != nil || control.Flush() != nil {
				break
			}
		}
		written <- n
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	connection, _, err := view.Connect(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	clientconfig.BoundBuffers(connection.Transport)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
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
