package view

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/proxy"
)

// maxAnswer bounds the headers of responses that servers of the tenant write, and the response to a request that
// becomes a stream, in bytes. They stay in memory as long as the response.
const maxAnswer = 64 << 10

var errAnswerTooLarge = errors.New("the response has too many bytes of headers")

// forwardStream forwards a request that becomes a stream of bytes in both directions, until one side ends it, or the
// request's context is done.
func (h *Handler) forwardStream(c *call) error {
	target := h.upstreamURL(c)
	handler := proxy.NewUpgradeAwareHandler(target, c.up.Transport, false, true, responder{})
	handler.UpgradeTransport, handler.UseLocationHost = c.up.Upgrade, true
	s := &stream{ResponseWriter: c.w, ctx: c.r.Context()}
	defer s.release()
	r := c.r.Clone(context.WithValue(s.ctx, streamKey{}, s))
	r.Header = headers(c.r.Header, c.info.Subresource == "proxy", append(forwardedStream, forwarded...))
	r.Header.Set("Connection", "Upgrade")
	handler.ServeHTTP(s, r)
	return nil
}

type responder struct{}

func (responder) Error(w http.ResponseWriter, r *http.Request, err error) { Fail(w, r, err) }

// stream is a request that becomes a stream. The connections of both sides are closed when its context is done.
type stream struct {
	http.ResponseWriter
	ctx context.Context
	// answered says that the response has been read.
	answered atomic.Bool
	stop     func() bool
}

type streamKey struct{}

// Hijack implements http.Hijacker. It is called when the response has been read.
func (s *stream) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	s.answered.Store(true)
	conn, buffer, err := http.NewResponseController(s.ResponseWriter).Hijack()
	if err == nil {
		s.stop = context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	}
	return conn, buffer, err
}

func (s *stream) release() {
	if s.stop != nil {
		s.stop()
	}
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// bounded returns a dialer whose connections end with the stream that they are for, and bound its response.
func bounded(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		s, ok := ctx.Value(streamKey{}).(*stream)
		if err != nil || !ok {
			return conn, err
		}
		return &upstreamConn{Conn: conn, stream: s, stop: context.AfterFunc(s.ctx, func() { _ = conn.Close() })}, nil
	}
}

// upstreamConn is the connection to kube-apiserver of a stream.
type upstreamConn struct {
	net.Conn
	stream *stream
	stop   func() bool
	read   int
}

// Read implements net.Conn.
func (c *upstreamConn) Read(p []byte) (int, error) {
	if !c.stream.answered.Load() && c.read >= maxAnswer {
		return 0, errAnswerTooLarge
	}
	n, err := c.Conn.Read(p)
	c.read += n
	return n, err
}

// Close implements net.Conn.
func (c *upstreamConn) Close() error {
	c.stop()
	return c.Conn.Close()
}
