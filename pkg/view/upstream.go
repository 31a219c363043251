package view

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/streaming/pkg/httpstream"
)

// Connection sends requests to kube-apiserver with one identity.
type Connection struct {
	// Transport sends all requests that the others do not.
	Transport http.RoundTripper
	// Programs sends requests for the tenant's own servers. It speaks HTTP/1.1: with HTTP/2, headers above a limit may
	// end the connection, which all views share. Without it, Transport sends them.
	Programs http.RoundTripper
	// Upgrade sends requests that become streams: exec, attach, port-forward. It speaks HTTP/1.1.
	Upgrade proxy.UpgradeRequestRoundTripper
}

// Connect returns the connection with the identity of a configuration, and the URL of its server. It sends no request.
func Connect(config *rest.Config) (*Connection, *url.URL, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, nil, err
	}
	plain, err := rest.TransportFor(config)
	if err != nil {
		return nil, nil, err
	}
	settings, err := config.TransportConfig()
	if err != nil {
		return nil, nil, err
	}
	tls, err := transport.TLSConfigFor(settings)
	if err != nil {
		return nil, nil, err
	}
	dial := settings.DialHolder
	dialer := (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	if dial != nil {
		dialer = dial.Dial
	}
	streams := utilnet.SetOldTransportDefaults(&http.Transport{TLSClientConfig: tls, DialContext: bounded(dialer), Proxy: settings.Proxy})
	identity, err := transport.HTTPWrappersForConfig(settings, proxy.MirrorRequest)
	if err != nil {
		return nil, nil, err
	}
	programs, err := transport.HTTPWrappersForConfig(settings, utilnet.SetOldTransportDefaults(&http.Transport{
		TLSClientConfig: tls, DialContext: dialer, Proxy: settings.Proxy, MaxResponseHeaderBytes: maxAnswer, IdleConnTimeout: 90 * time.Second,
	}))
	if err != nil {
		return nil, nil, err
	}
	return &Connection{Transport: plain, Programs: programs, Upgrade: proxy.NewUpgradeRequestRoundTripper(streams, identity)}, server, nil
}

// forwarded are the headers of requests that reach kube-apiserver.
var forwarded = []string{
	"Accept", "Accept-Encoding", "Audit-Id", "Content-Encoding", "Content-Type", "If-Match", "If-Modified-Since", "If-None-Match",
	"Kubectl-Command", "Kubectl-Session", "Range", "Traceparent", "Tracestate", "User-Agent",
}

// forwardedStream are those of requests that become streams, besides these.
var forwardedStream = []string{
	"Connection", "Upgrade", "Sec-Websocket-Extensions", "Sec-Websocket-Key", "Sec-Websocket-Protocol", "Sec-Websocket-Version",
	"X-Stream-Protocol-Version",
}

// connecting are the subresources whose connections are upgraded, and contain bytes of programs.
var connecting = sets.New("attach", "exec", "portforward", "proxy")

// Connects reports whether a request is for a connection with a program.
func Connects(info *request.RequestInfo) bool {
	return info.IsResourceRequest && connecting.Has(info.Subresource)
}

var errNoUpgrade = apierrors.NewBadRequest("this view does not upgrade connections of this request; leave out the header Upgrade")

// forward sends a request to kube-apiserver, and returns its response, both with translated names.
func (h *Handler) forward(c *call) error {
	switch {
	case httpstream.IsUpgradeRequest(c.r) && !Connects(c.info) && (h.Mapper.Names().Relative() || !IsStream(c.r, c.info)):
		// What passes in an upgraded connection is not translated, and other requests do not count as streams.
		return errNoUpgrade
	case httpstream.IsUpgradeRequest(c.r):
		return h.forwardStream(c)
	case h.translates(c):
		return h.translate(c)
	}
	h.proxy(c, nil)
	return nil
}

// proxy sends a request to kube-apiserver. Modify, if there is one, changes the response.
func (h *Handler) proxy(c *call, modify func(*http.Response) error) {
	reverse := &httputil.ReverseProxy{
		BufferPool:     bufferSize(responseBuffer),
		Transport:      c.up.Transport,
		ModifyResponse: modify,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL, p.Out.Host = h.upstreamURL(c), h.Server.Host
			p.Out.Header = headers(p.Out.Header, c.info.Subresource == "proxy", forwarded)
		},
		ErrorHandler: Fail,
		ErrorLog:     log.New(io.Discard, "", 0), // It is about clients that disconnect.
	}
	if c.info.Verb == "watch" {
		reverse.BufferPool = bufferSize(watchBuffer)
	}
	if c.info.Subresource == "proxy" && c.up.Programs != nil {
		reverse.Transport = c.up.Programs
	}
	reverse.ServeHTTP(c.w, c.r)
}

// Sizes of the buffers between the two connections, in bytes. Watches are many, and mostly wait.
const responseBuffer, watchBuffer = 32 << 10, 2 << 10

// bufferSize is the size of new buffers.
type bufferSize int

// Get implements httputil.BufferPool.
func (s bufferSize) Get() []byte { return make([]byte, s) }

// Put implements httputil.BufferPool.
func (bufferSize) Put([]byte) {}

// upstreamURL returns the URL of a request to kube-apiserver.
func (h *Handler) upstreamURL(c *call) *url.URL {
	raw := strings.TrimSuffix(h.Server.EscapedPath(), "/") + c.path
	path, err := url.PathUnescape(raw)
	if err != nil {
		path, raw = raw, "" // validatePath has rejected it
	}
	return &url.URL{Scheme: h.Server.Scheme, Host: h.Server.Host, Path: path, RawPath: raw, RawQuery: c.query}
}

// headers returns those headers of a request that reach kube-apiserver: the listed ones, or for servers of the tenant
// (all) every header but those that say who the caller is.
func headers(in http.Header, all bool, listed []string) http.Header {
	out := http.Header{}
	for _, name := range listed {
		if values := in[name]; len(values) > 0 {
			out[name] = values
		}
	}
	if all {
		for name, values := range in {
			if name != "Authorization" && !strings.HasPrefix(name, "X-Forwarded-") && !strings.HasPrefix(name, "Proxy-") {
				out[name] = values
			}
		}
	}
	if out["User-Agent"] == nil {
		out["User-Agent"] = []string{""} // or the transport adds its own
	}
	return out
}
