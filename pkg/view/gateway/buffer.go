package gateway

import (
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// streamBuffer is how much of a response waits in memory for a client that does not read it. Each watch has a buffer, and
// the default of 4 MiB would let one client with slow watches exhaust the memory.
const streamBuffer = 64 << 10

// boundBuffers sets the size of the buffers of a transport's HTTP/2 connections, before there are any.
func boundBuffers(transport http.RoundTripper) {
	for {
		switch t := transport.(type) {
		case *http.Transport:
			t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: streamBuffer}
			return
		case utilnet.RoundTripperWrapper:
			transport = t.WrappedRoundTripper()
		default:
			return
		}
	}
}
