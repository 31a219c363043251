package propagation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// transport carries the propagator's requests. It records writes, answers what a test wants to fail, holds what a test
// wants to wait, and ends watches.
type transport struct {
	mu      sync.Mutex
	changed *sync.Cond
	writes  []string
	// refuse answers a request instead of the server; nil or a nil answer passes it on.
	refuse func(*http.Request) *metav1.Status
	// hold reports which requests wait; waiting is how many do.
	hold    func(*http.Request) bool
	waiting int
	watches map[*watchBody]string
}

func newTransport() *transport {
	x := &transport{watches: map[*watchBody]string{}}
	x.changed = sync.NewCond(&x.mu)
	return x
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (x *transport) wrap(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if answer := x.admit(r); answer != nil {
			return respond(r, answer), nil
		}
		response, err := base.RoundTrip(r)
		if err == nil && isWatch(r) && response.StatusCode == http.StatusOK {
			body := &watchBody{ReadCloser: response.Body, transport: x}
			response.Body = body
			x.mu.Lock()
			x.watches[body] = r.URL.Path
			x.mu.Unlock()
		}
		return response, err
	})
}

func isWatch(r *http.Request) bool {
	watch, _ := strconv.ParseBool(r.URL.Query().Get("watch"))
	return watch
}

// admit returns once a request is not held, with the answer if it is refused.
func (x *transport) admit(r *http.Request) *metav1.Status {
	defer context.AfterFunc(r.Context(), x.changed.Broadcast)()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.hold != nil && x.hold(r) {
		x.waiting++
		for x.hold != nil && r.Context().Err() == nil {
			x.changed.Wait()
		}
		x.waiting--
	}
	if x.refuse != nil {
		if answer := x.refuse(r); answer != nil {
			return answer
		}
	}
	if r.Method != http.MethodGet {
		x.writes = append(x.writes, r.Method+" "+r.URL.Path)
	}
	return nil
}

// setRefuse sets which requests fail, nil for none.
func (x *transport) setRefuse(refuse func(*http.Request) *metav1.Status) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refuse = refuse
}

// setHold sets which requests wait, nil for none.
func (x *transport) setHold(hold func(*http.Request) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hold = hold
	x.changed.Broadcast()
}

// held returns how many requests wait.
func (x *transport) held() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.waiting
}

// watched reports whether there is a watch of a resource.
func (x *transport) watched(resource string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, path := range x.watches {
		if strings.HasSuffix(path, "/"+resource) {
			return true
		}
	}
	return false
}

// endWatches ends all watches.
func (x *transport) endWatches() {
	x.mu.Lock()
	var open []*watchBody
	for body := range x.watches {
		open = append(open, body)
	}
	x.mu.Unlock()
	for _, body := range open {
		_ = body.Close()
	}
}

// takeWrites returns the writes since the last call.
func (x *transport) takeWrites() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	writes := x.writes
	x.writes = nil
	return writes
}

// watchBody is the body of a watch that is open.
type watchBody struct {
	io.ReadCloser
	transport *transport
}

func (b *watchBody) Close() error {
	b.transport.mu.Lock()
	delete(b.transport.watches, b)
	b.transport.mu.Unlock()
	return b.ReadCloser.Close()
}

// failure returns the answer of an API server that fails.
func failure(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
}

// forbidden is what an API server answers to somebody without the permission.
func forbidden() *metav1.Status {
	return failure(http.StatusForbidden, metav1.StatusReasonForbidden, `widgets.example.com is forbidden: User "p" cannot do that`)
}

func unavailable() *metav1.Status {
	return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "unavailable")
}

func respond(r *http.Request, answer *metav1.Status) *http.Response {
	body, _ := json.Marshal(answer)
	return &http.Response{
		StatusCode: int(answer.Code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
	}
}
