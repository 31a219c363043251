package clientconfig

import (
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// StreamBuffer is how many bytes of a response wait in memory for a client that does not read it. Each watch has a
// buffer, and the default of 4 MiB would let one client with slow watches exhaust the memory.
const StreamBuffer = 64 << 10

// BoundBuffers sets the size of the buffers of a transport's HTTP/2 connections, before there are any.
func BoundBuffers(transport http.RoundTripper) {
	for {
		switch t := transport.(type) {
		case *http.Transport:
			t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: StreamBuffer}
			return
		case utilnet.RoundTripperWrapper:
			transport = t.WrappedRoundTripper()
		default:
			return
		}
	}
}
