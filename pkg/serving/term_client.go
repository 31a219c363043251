package serving

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// Restrict returns a copy of the configuration whose clients write only during the term, also those of further copies,
// such as ones that impersonate. Each write is checked twice: when it is sent, and when its bytes are handed to the
// system, because a process may be suspended in between. So writes have connections of their own, which end with the
// term. Bytes that the other side does not confirm are discarded before another replica can lead: a partition that ends
// must not deliver them.
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
		return termTransport{term: t, reading: reading, writing: writing, timeout: requestTimeout}
	})
	return restricted, nil
}

// requestTimeout bounds a write until its response has been read, a read until it makes progress, and a watch until it
// begins. kube-apiserver answers within a minute; what is between may not. Without a bound, what waits for the answer
// would never be written, or watched, again.
const requestTimeout = 75 * time.Second

type termTransport struct {
	term             *Term
	reading, writing http.RoundTripper
	timeout          time.Duration
}

func (t termTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return t.bounded(t.reading, request)
	}
	if err := t.term.Err(); err != nil {
		return nil, err
	}
	return t.bounded(t.writing, request)
}

func (t termTransport) bounded(transport http.RoundTripper, request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	timer := time.AfterFunc(t.timeout, func() { cancel(context.DeadlineExceeded) })
	end := func() {
		timer.Stop()
		cancel(nil)
	}
	response, err := transport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		end()
		return nil, inTime(ctx, err)
	}
	progress := func() {}
	if isWatch, _ := strconv.ParseBool(request.URL.Query().Get("watch")); isWatch {
		timer.Stop()
	} else if request.Method == http.MethodGet {
		progress = func() { timer.Reset(t.timeout) }
	}
	response.Body = &boundedBody{response.Body, ctx, progress, end}
	return response, nil
}

// boundedBody ends the timeout of its request when it is closed.
type boundedBody struct {
	io.ReadCloser
	ctx           context.Context
	progress, end func()
}

// Read implements io.Reader. Its error says that the time is over.
func (b *boundedBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	if n > 0 {
		b.progress()
	}
	return n, inTime(b.ctx, err)
}

// inTime returns an error that says so if the time of a request is over.
func inTime(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, context.DeadlineExceeded) {
		return errors.Join(err, cause)
	}
	return err
}

func (b *boundedBody) Close() error {
	defer b.end()
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
