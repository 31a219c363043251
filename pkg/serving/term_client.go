package serving

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// Restrict returns a copy of the configuration whose clients write only during the term, also those of further copies, such as ones that impersonate.
// Each write is checked twice: when it is sent, and when its bytes are handed to the system, because a process may be suspended in between. So writes
// have connections of their own, which end with the term. Bytes that the other side does not confirm are discarded before another replica can lead: a
// partition that ends must not deliver them.
//
// What remains is a write that is under way when the term ends, such as one that the other side delays.
func (t *Term) Restrict(config *rest.Config) (*rest.Config, error) {
	dialing := rest.CopyConfig(config)
	dialing.Dial = t.dial
	writing, err := rest.TransportFor(dialing)
	if err != nil {
		return nil, err
	}
	restricted := rest.CopyConfig(config)
	restricted.Wrap(func(reading http.RoundTripper) http.RoundTripper {
		// Headers that authenticate or impersonate are set already, and stay as they are.
		return termTransport{term: t, reading: reading, writing: writing, timeout: writeTimeout}
	})
	return restricted, nil
}

// writeTimeout bounds a write until its response has been read. kube-apiserver answers within a minute; what is between may not. Without a bound, what
// waits for the answer would never be written again.
const writeTimeout = 75 * time.Second

type termTransport struct {
	term             *Term
	reading, writing http.RoundTripper
	timeout          time.Duration
}

func (t termTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return t.reading.RoundTrip(request)
	}
	if err := t.term.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(request.Context(), t.timeout)
	response, err := t.writing.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = &boundedBody{response.Body, cancel}
	return response, nil
}

// boundedBody ends the timeout of its request when it is closed.
type boundedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *boundedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// dial is as that of client-go, but for the term.
func (t *Term) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: discardUnconfirmed(t.margin)}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &termConn{Conn: conn, term: t}, nil
}

type termConn struct {
	net.Conn
	term *Term
}

func (c *termConn) Write(b []byte) (int, error) {
	if err := c.term.Err(); err != nil {
		// What is buffered is discarded, too.
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
		return 0, err
	}
	return c.Conn.Write(b)
}
