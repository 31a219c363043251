package apiserver

import (
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

const (
	// smallEvents is the size in bytes up to which an event, its encoding and the objects behind it are not limited.
	smallEvents = 128 << 10
	// eventMemory bounds the memory for events that clients have not read yet, eventShare that of one tree.
	eventMemory = 256 << 20
	eventShare  = 32 << 20
	// keptMemory and keptShare bound what watches keep until they end.
	keptMemory = 128 << 20
	keptShare  = 16 << 20
	// queued is how many objects a watch copies before they are read. While few objects change, that's the length of its
	// queue.
	queued = 10
	// readWithin is how long a client may take to read an event.
	readWithin = 30 * time.Second
)

// watchEvents limits the memory for large events in watches of single namespaces. Whoever may watch all namespaces is no
// tenant.
type watchEvents struct {
	unread, kept *inflight.Limiter
	// largest returns the size of the largest object of a resource in a namespace that watch caches may have.
	largest func(resource, namespace string) int
	// root returns the root of the tree of a namespace; nil before the stores exist.
	root func(namespace string) string
}

func newWatchEvents() *watchEvents {
	return &watchEvents{
		unread: inflight.New("bytes of unread events in watches", inflight.Limits{Total: eventMemory, PerUser: eventShare}, 1),
		kept:   inflight.New("bytes of events that watches keep", inflight.Limits{Total: keptMemory, PerUser: keptShare}, 1),
	}
}

// filter limits watches. What those by websocket write passes no ResponseWriter, so they are rejected.
func (e *watchEvents) filter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := genericapirequest.RequestInfoFrom(r.Context())
		if !ok || e.root == nil || info.APIGroup != hnc.GroupName || info.Verb != "watch" || info.Namespace == "" {
			next.ServeHTTP(w, r)
			return
		}
		if wsstream.IsWebSocketRequest(r) {
			writeError(apierrors.NewBadRequest("watches of a namespace by websocket are not served; watch without the header Upgrade"), w, r)
			return
		}
		// A compressed event would be written in small parts.
		r.Header.Del("Accept-Encoding")
		root := e.root(info.Namespace)
		limited := &eventWriter{
			ResponseWriter: w, control: http.NewResponseController(w),
			unread: holding{limiter: e.unread, root: root, most: eventShare}, kept: holding{limiter: e.kept, root: root, most: keptShare},
			// Parameters of media types ask for tables or metadata, whose encoder is not ours.
			keeps:   strings.Contains(r.Header.Get("Accept"), ";"),
			largest: func() int { return e.largest(storedResource(hnc.Resource(info.Resource)).Resource, info.Namespace) },
		}
		defer limited.end()
		next.ServeHTTP(responsewriter.WrapForHTTP1Or2(limited), r)
	})
}

// eventWriter writes the events of a watch, each at once.
type eventWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	// unread has what is counted until it is read, kept what is counted until the watch ends.
	unread, kept holding
	// keeps is whether the watch may keep memory for the largest event.
	keeps   bool
	largest func() int
	// copied bounds the size of the objects that the watch begins with, or repeats from the past, and has not written.
	copied int
}

// Unwrap implements responsewriter.UserProvidedDecorator.
func (w *eventWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader is called when the watch has begun.
func (w *eventWriter) WriteHeader(code int) {
	w.copied = queued * w.largest()
	w.ResponseWriter.WriteHeader(code)
}

// Write fails, which ends the watch, if there is too much in memory or if the client takes too long to read the event.
// Clients continue from their last event.
func (w *eventWriter) Write(event []byte) (int, error) {
	unread := w.copied
	// The object and the event are encoded.
	if encoded := 2 * len(event); !w.keeps {
		unread += encoded
	} else if err := w.kept.take(encoded); err != nil {
		return 0, err
	}
	if err := w.unread.take(unread); err != nil {
		return 0, err
	}
	w.copied -= min(len(event), w.copied)
	w.limitTime()
	return w.ResponseWriter.Write(event)
}

// Flush writes what is buffered of events, which count until then.
func (w *eventWriter) Flush() {
	w.limitTime()
	_ = w.control.Flush() // After an error, the next Write fails.
	_ = w.control.SetWriteDeadline(time.Time{})
	w.unread.giveBack()
}

// limitTime ends the watch if nobody reads. Without support for deadlines, it lasts until the connection breaks.
func (w *eventWriter) limitTime() { _ = w.control.SetWriteDeadline(time.Now().Add(readWithin)) }

func (w *eventWriter) end() {
	_ = w.control.SetWriteDeadline(time.Time{}) // The connection may be used again.
	w.unread.giveBack()
	w.kept.giveBack()
}

// holding is what is counted of a tree.
type holding struct {
	limiter *inflight.Limiter
	root    string
	// most is the share of the tree.
	most    int
	bytes   int
	release func()
}

// take has at least so many bytes counted, if they are many.
func (h *holding) take(bytes int) error {
	if bytes = min(bytes, h.most); bytes <= smallEvents || bytes <= h.bytes {
		return nil
	}
	h.giveBack()
	release, err := h.limiter.AcquireTree(h.root, bytes)
	if err == nil {
		h.bytes, h.release = bytes, release
	}
	return err
}

func (h *holding) giveBack() {
	if h.release != nil {
		h.release()
	}
	h.bytes, h.release = 0, nil
}
