// Package ui serves a page about trees of namespaces to the browser on the user's machine. It knows neither clients nor
// kubeconfigs: a Reader returns what the page shows, with the user's own permissions.
package ui

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// IdleTimeout is how long a server runs without requests for data.
const IdleTimeout = 30 * time.Minute

// Server serves the page on 127.0.0.1.
type Server struct {
	listener net.Listener
	server   *http.Server
	tokens   tokens
	idle     *idle
}

// Listen opens the port, a random one if it is 0. The connections wait until Serve is called.
func Listen(reader Reader, port int) (*Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, tokens: tokens{newToken(), newToken()}, idle: newIdle(IdleTimeout)}
	s.server = &http.Server{
		Handler:           handler(reader, listener.Addr().String(), s.tokens, s.idle),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	return s, nil
}

// handler returns the whole handler for one host. Requests count if they have the page's token.
func handler(reader Reader, host string, t tokens, requests *idle) http.Handler {
	return &guard{host: host, tokens: t, write: reader.Session().Write, next: requests.count(routes(reader))}
}

// URL returns the address of the page. The tokens are in the fragment, which browsers send to no server.
func (s *Server) URL() string {
	return fmt.Sprintf("http://%s/#token=%s.%s", s.listener.Addr(), s.tokens.page, s.tokens.server)
}

// ErrIdle is returned by Serve after IdleTimeout without requests for data.
var ErrIdle = errors.New("no requests for 30 minutes")

// Serve serves until the context is done, or returns ErrIdle.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.server.BaseContext = func(net.Listener) context.Context { return ctx }
	failed := make(chan error, 1)
	go func() { failed <- s.server.Serve(s.listener) }()
	var err error
	select {
	case err = <-failed:
		return err
	case <-ctx.Done():
	case <-s.idle.expired:
		err = ErrIdle
	}
	// Ends the streams of changes.
	cancel()
	closing, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if s.server.Shutdown(closing) != nil {
		_ = s.server.Close()
	}
	return err
}

// idle expires some time after the last request has ended.
type idle struct {
	timeout time.Duration
	expired chan struct{}

	mu     sync.Mutex
	active int
	timer  *time.Timer
}

func newIdle(timeout time.Duration) *idle {
	i := &idle{timeout: timeout, expired: make(chan struct{})}
	i.timer = time.AfterFunc(timeout, i.expire)
	return i
}

func (i *idle) expire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.expired:
	default:
		// A request may have begun after the timer had fired.
		if i.active == 0 {
			close(i.expired)
		}
	}
}

func (i *idle) add(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.active += n
	i.timer.Stop()
	if i.active == 0 {
		i.timer.Reset(i.timeout)
	}
}

// count counts the requests for data that a handler is serving. Others need no token: any site can send them.
func (i *idle) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isData(r) {
			i.add(1)
			defer i.add(-1)
		}
		next.ServeHTTP(w, r)
	})
}
