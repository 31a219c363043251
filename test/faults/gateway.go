package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Fault is what a Gateway does to a request.
type Fault string

// Faults of requests. The server does not get those that are answered with 500, 503 or 429; it carries out those that
// are answered with 504, and those whose connection ends instead of an answer. Delayed requests and answers arrive
// later than others that were sent after them.
const (
	Internal       Fault = "500"
	Unavailable    Fault = "503"
	TooMany        Fault = "429"
	Unconfirmed    Fault = "504"
	Lost           Fault = "lost answer"
	DelayedRequest Fault = "delayed request"
	DelayedAnswer  Fault = "delayed answer"
)

// Faults of watches: one that is answered with 410, as continued lists are, too, one that ends at some time, and one
// whose events are late.
const (
	Expired   Fault = "410"
	CutWatch  Fault = "cut watch"
	SlowWatch Fault = "slow watch"
)

var (
	ofRequests = []Fault{Internal, Unavailable, TooMany, Unconfirmed, Lost, DelayedRequest, DelayedAnswer}
	ofPages    = append(ofRequests[:len(ofRequests):len(ofRequests)], Expired)
	ofWatches  = []Fault{Internal, Unavailable, TooMany, Expired, CutWatch, CutWatch, SlowWatch, SlowWatch}
)

// longest is the longest delay of a request or an answer, and the longest life of a watch that is cut.
const longest, watched = 500 * time.Millisecond, 3 * time.Second

// Gateway forwards HTTP requests to one server, and fails some of them.
type Gateway struct {
	listener net.Listener
	server   *http.Server
	proxy    *httputil.ReverseProxy

	mu       sync.Mutex
	random   *rand.Rand
	rate     float64
	injected map[Fault]int
	// watches end those that are open.
	watches map[*context.CancelFunc]bool
	// calm ends what watches suffer from when the rate is zero.
	calm chan struct{}
}

// NewGateway listens on a loopback port with a certificate, until ctx ends. target is the URL of the server, upstream
// how to authenticate it and to authenticate to it. No request fails before SetRate.
func NewGateway(ctx context.Context, target string, upstream *tls.Config, serving tls.Certificate, seed uint64) (*Gateway, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gateway{listener: listener, random: rand.New(rand.NewPCG(seed, 0)), calm: make(chan struct{}), //nolint:gosec // faults are no secrets
		injected: map[Fault]int{}, watches: map[*context.CancelFunc]bool{}}
	transport := &http.Transport{TLSClientConfig: upstream, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 100}
	g.proxy = &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = r.In.Host },
		ModifyResponse: g.modify,
		ErrorHandler:   abort,
	}
	g.server = &http.Server{
		Handler: g, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{serving}, ClientAuth: tls.RequestClientCert},
		ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = g.server.ServeTLS(listener, "", "") }()
	context.AfterFunc(ctx, func() {
		_ = g.server.Close()
		transport.CloseIdleConnections()
	})
	return g, nil
}

// Port returns the port that the gateway listens on.
func (g *Gateway) Port() int { return g.listener.Addr().(*net.TCPAddr).Port }

// SetRate sets the probability with which a request or a watch fails from now on, and ends some of the present watches:
// each with a tenth of this probability, because a reflector waits longer and longer between tries. Zero also ends what
// watches suffer from.
func (g *Gateway) SetRate(rate float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for end := range g.watches {
		if g.random.Float64() < rate/10 {
			(*end)()
			g.injected[CutWatch]++
		}
	}
	if g.rate = rate; rate == 0 {
		close(g.calm)
		g.calm = make(chan struct{})
	}
}

// Injected returns how often each fault was injected.
func (g *Gateway) Injected() map[Fault]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.injected)
}

// incident is what happens to one request.
type incident struct {
	fault Fault
	delay time.Duration
	calm  chan struct{}
}

func (g *Gateway) draw(kinds []Fault, limit time.Duration) incident {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := incident{calm: g.calm}
	if g.random.Float64() >= g.rate {
		return i
	}
	i.fault = kinds[g.random.IntN(len(kinds))]
	i.delay = time.Duration(g.random.Int64N(int64(limit)))
	g.injected[i.fault]++
	return i
}

// after returns when the delay is over, the context ends or faults end.
func (i incident) after(ctx context.Context) {
	select {
	case <-time.After(i.delay):
	case <-ctx.Done():
	case <-i.calm:
	}
}

type incidentKey struct{}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	watch := query.Get("watch") != "" && query.Get("watch") != "false"
	kinds, limit := ofRequests, longest
	switch {
	case watch:
		kinds, limit = ofWatches, watched
	case r.Method == http.MethodGet && query.Get("continue") != "":
		kinds = ofPages
	}
	i := g.draw(kinds, limit)
	switch i.fault {
	case Internal:
		refuse(w, http.StatusInternalServerError, "InternalError")
		return
	case Unavailable:
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
		return
	case TooMany:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
		return
	case Expired:
		refuse(w, http.StatusGone, "Expired")
		return
	case DelayedRequest:
		i.after(r.Context())
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), incidentKey{}, i))
	defer cancel()
	if watch {
		defer g.opened(&cancel)()
	}
	if i.fault == CutWatch {
		go func() {
			i.after(ctx)
			cancel()
		}()
	}
	g.proxy.ServeHTTP(w, r.WithContext(ctx))
	if ctx.Err() != nil {
		// The proxy may have seen the end of the answer, and not that it was cut.
		panic(http.ErrAbortHandler)
	}
}

// opened registers an open watch until the returned function is called.
func (g *Gateway) opened(end *context.CancelFunc) (closed func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watches[end] = true
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.watches, end)
	}
}

// Watches returns the number of open watches.
func (g *Gateway) Watches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.watches)
}

var errLost = errors.New("the answer is lost")

// modify changes the answer of a server.
func (g *Gateway) modify(response *http.Response) error {
	i, _ := response.Request.Context().Value(incidentKey{}).(incident)
	switch i.fault {
	case Lost:
		return errLost
	case Unconfirmed:
		_ = response.Body.Close()
		response.StatusCode, response.Status = http.StatusGatewayTimeout, ""
		response.Header = http.Header{"Content-Type": {"application/json"}}
		body := status(http.StatusGatewayTimeout, "Timeout")
		response.ContentLength, response.Body = int64(len(body)), io.NopCloser(bytes.NewReader(body))
	case DelayedAnswer:
		i.after(response.Request.Context())
	case SlowWatch:
		response.Body = &slowBody{ReadCloser: response.Body, ctx: response.Request.Context(), incident: i}
	}
	return nil
}
