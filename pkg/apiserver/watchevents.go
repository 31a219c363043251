package apiserver

import (
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

const (
	// largeEvent is the size in bytes from which an event of a watch is limited.
	largeEvent = 64 << 10
	// eventMemory bounds the memory for large events that clients have not read yet, eventShare that of one tree.
	eventMemory = 256 << 20
	eventShare  = 32 << 20
	// readWithin is how long a client may take to read a large event.
	readWithin = 30 * time.Second
)

// watchEvents limits the memory for large events in watches of single namespaces. Whoever may watch all namespaces is no
// tenant.
type watchEvents struct {
	memory *inflight.Limiter
	// root returns the root of a namespace's tree; nil before the stores exist.
	root func(namespace string) string
}

func newWatchEvents() *watchEvents {
	return &watchEvents{memory: inflight.New("bytes of events in watches", inflight.Limits{Total: eventMemory, PerUser: eventShare}, 1)}
}

// filter limits watches. Those by websocket are rejected: their writes could not be limited.
func (e *watchEvents) filter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := genericapirequest.RequestInfoFrom(r.Context())
		if !ok || e.root == nil || info.APIGroup != hnc.GroupName || info.Verb != "watch" || info.Namespace == "" {
			next.ServeHTTP(w, r)
			return
		}
		if wsstream.IsWebSocketRequest(r) {
			writeError(apierrors.NewBadRequest("watches by websocket are not served; watch without the header Upgrade"), w, r)
			return
		}
		// A compressed event would be written in small parts.
		r.Header.Del("Accept-Encoding")
		limited := &eventWriter{
			ResponseWriter: w, acquire: func(bytes int) (func(), error) { return e.memory.AcquireTree(e.root(info.Namespace), bytes) },
			keeps: strings.Contains(r.Header.Get("Accept"), ";"), release: func() {},
		}
		defer func() { limited.release() }()
		next.ServeHTTP(responsewriter.WrapForHTTP1Or2(limited), r)
	})
}

// eventWriter writes the events of a watch, each at once.
type eventWriter struct {
	http.ResponseWriter
	acquire func(bytes int) (release func(), err error)
	// keeps is whether the watch may keep memory for the largest event: parameters of media types ask for tables or
	// metadata, whose encoder is not ours.
	keeps bool
	// held is the memory that is counted until release.
	held    int
	release func()
}

// Unwrap implements responsewriter.UserProvidedDecorator.
func (w *eventWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write fails, which ends the watch, if there is too much in memory or if the client takes too long to read it. Clients
// go on from their last event.
func (w *eventWriter) Write(event []byte) (int, error) {
	if len(event) <= largeEvent {
		return w.ResponseWriter.Write(event)
	}
	// The object and the event are encoded.
	if bytes := min(2*len(event), eventShare); bytes > w.held {
		w.release()
		release, err := w.acquire(bytes)
		if err != nil {
			w.held, w.release = 0, func() {}
			return 0, err
		}
		w.held, w.release = bytes, release
	}
	if !w.keeps {
		defer func() { w.release(); w.held = 0 }()
	}
	// Without support for deadlines, the watch lasts until the connection breaks.
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(readWithin))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	return w.ResponseWriter.Write(event)
}
