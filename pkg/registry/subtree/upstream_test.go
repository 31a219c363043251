package subtree

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
)

// client-go repeats a request up to ten times.
func TestRequestsThatShallBeRepeatedLaterAreLeftToTheCaller(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGatewayTimeout)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,"details":{"retryAfterSeconds":1}}`))
	}))
	defer server.Close()
	up, err := newUpstream(&restclient.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, listErr := up.list(t.Context(), configMaps, "a", nil, runtime.ContentTypeJSON, testMemory().share("ann", "a"))
	_, streamErr := up.stream(t.Context(), configMaps, "", nil, runtime.ContentTypeJSON)
	_, labeledErr := up.labeledNamespaces(t.Context(), "a", "99999999", testMemory().share("ann", "a"))
	for _, err := range []error{listErr, streamErr, labeledErr} {
		if _, later := apierrors.SuggestsClientDelay(err); !apierrors.IsTimeout(err) || !later {
			t.Errorf("got %v, want the timeout of the server", err)
		}
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("%d requests for 3", n)
	}
}

// The generic API server would log each error that is not one of the API.
func TestErrorsThatAreNoAnswersBecomeAPIErrors(t *testing.T) {
	up, err := newUpstream(&restclient.Config{Host: "http://127.0.0.1:1", QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = up.list(ctx, kind{}, "a", nil, runtime.ContentTypeJSON, testMemory().share("ann", "a"))
	if _, ok := err.(apierrors.APIStatus); !ok {
		t.Errorf("got %#v, want an API error", err)
	}
}

// Each watch that waits for its client has a buffer. Other clients keep theirs.
func TestResponsesThatAreNotReadAreNotBuffered(t *testing.T) {
	up, err := newUpstream(&restclient.Config{Host: "https://127.0.0.1:1", QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	transport := up.client.(*restclient.RESTClient).Client.Transport
	for wrapper, ok := transport.(utilnet.RoundTripperWrapper); ok; wrapper, ok = transport.(utilnet.RoundTripperWrapper) {
		transport = wrapper.WrappedRoundTripper()
	}
	if own := transport.(*http.Transport); own == http.DefaultTransport || own.HTTP2 == nil || own.HTTP2.MaxReceiveBufferPerStream != clientconfig.StreamBuffer {
		t.Errorf("the settings of HTTP/2 are %+v", own.HTTP2)
	}
}
