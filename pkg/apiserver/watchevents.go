package apiserver

import (
	"net/http"
	"strings"
	"time"

	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

const (
	// largeEvent is the size in bytes from which an event of a watch is limited, with the objects in the queue behind it.
	largeEvent = 64 << 10
	// eventMemory bounds the memory for large events that clients have not read yet, eventShare that of one tree.
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
	// size and root are those of lists; root is nil before the stores exist.
	size func(resource, namespace string, limit int) int
	root func(namespace string) string
}

func newWatchEvents() *watchEvents {
	return &watchEvents{
		unread: inflight.New("bytes of unread events in watches", inflight.Limits{Total: eventMemory, PerUser: eventShare}, 1),
		kept:   inflight.New("bytes of events that watches keep", inflight.Limits{Total: keptMemory, PerUser: keptShare}, 1),
	}
}

// filter limits watches.
func (e *watchEvents) filter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := genericapirequest.RequestInfoFrom(r.Context())
		if !ok || e.root == nil || info.APIGroup != hnc.GroupName || info.Verb != "watch" || info.Namespace == "" {
			next.ServeHTTP(w, r)
			return
		}
		resource := storedResource(hnc.Resource(info.Resource)).Resource
		limited := &eventWriter{
			ResponseWriter: w, release: func() {}, memory: e.unread, share: eventShare, root: e.root(info.Namespace),
			copied: e.size(resource, info.Namespace, 0), queue: e.size(resource, info.Namespace, queued),
		}
		defer func() { limited.release() }()
		if wsstream.IsWebSocketRequest(r) {
			// What it writes passes no ResponseWriter.
			limited.memory, limited.share, limited.keeps = e.kept, keptShare, true
			if err := limited.take(limited.queue); err != nil {
				writeError(err, w, r)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		// Parameters of media types ask for tables or metadata, whose encoder is not ours.
		if strings.Contains(r.Header.Get("Accept"), ";") {
			limited.memory, limited.share, limited.keeps = e.kept, keptShare, true
		}
		// A compressed event would be written in small parts.
		r.Header.Del("Accept-Encoding")
		next.ServeHTTP(responsewriter.WrapForHTTP1Or2(limited), r)
	})
}

// eventWriter writes the events of a watch, each at once.
type eventWriter struct {
	http.ResponseWriter
	// memory is what counts large events, with a share for the tree of root.
	memory *inflight.Limiter
	share  int
	root   string
	// copied is the size of the objects that the watch began with, as far as they are not written, and queue that of the
	// largest of them that are copied at a time.
	copied, queue int
	// keeps is whether the watch may keep memory for the largest event until it ends.
	keeps bool
	// held is the memory that is counted until release.
	held    int
	release func()
}

// Unwrap implements responsewriter.UserProvidedDecorator.
func (w *eventWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write fails, which ends the watch, if there is too much in memory or if the client takes too long to read the event.
// Clients continue from their last event.
func (w *eventWriter) Write(event []byte) (int, error) {
	// The object and the event are encoded.
	if err := w.take(2*len(event) + min(w.copied, w.queue)); err != nil {
		return 0, err
	}
	if !w.keeps {
		defer w.giveBack()
	}
	w.copied -= min(len(event), w.copied)
	// Without support for deadlines, the watch lasts until the connection breaks.
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(readWithin))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	return w.ResponseWriter.Write(event)
}

// take has at least so many bytes counted, if they are many.
func (w *eventWriter) take(bytes int) error {
	bytes = min(bytes, w.share)
	if bytes <= 2*largeEvent || bytes <= w.held {
		return nil
	}
	w.giveBack()
	release, err := w.memory.AcquireTree(w.root, bytes)
	if err == nil {
		w.held, w.release = bytes, release
	}
	return err
}

func (w *eventWriter) giveBack() {
	w.release()
	w.held, w.release = 0, func() {}
}
