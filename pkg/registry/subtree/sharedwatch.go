package subtree

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// minReopenInterval is the least time between two upstream watches of a sharedWatch.
const minReopenInterval = time.Second

// sharedWatch is one upstream watch of the whole cluster with a buffer of its last events. Each reader has a feed,
// which is a position in that buffer and no queue of its own: a reader whose next event was dropped is disconnected, so
// a slow reader neither delays others nor uses memory.
type sharedWatch struct {
	mux    *watchMux
	reader reader
	// own is whether the watch has one reader, which catches up. It waits for that reader instead of dropping events.
	own bool
	// ctx is that of the request of an own watch. That of others outlives the request.
	ctx    context.Context
	cancel context.CancelFunc
	// watchers is guarded by the lock of mux.
	watchers int
	// ready is closed when kube-apiserver has answered; err is its error.
	ready chan struct{}
	err   error
	// columns are the columns of a watch of tables; only run uses the field.
	columns json.RawMessage

	mu sync.Mutex
	// events are the buffered events, all after the revision start. The first has the number first.
	events []rawEvent
	bytes  int64
	first  int
	start  string
	// position is the revision of the last event.
	position string
	// changed is closed and replaced when an event is added.
	changed chan struct{}
	// dropped is signaled when the reader of an own watch has handled events.
	dropped chan struct{}
	ended   bool
	// left is whether the last reader has left.
	left  bool
	feeds map[*feed]struct{}
}

func newSharedWatch(ctx context.Context, m *watchMux, r reader) *sharedWatch {
	w := &sharedWatch{
		mux: m, reader: r, ready: make(chan struct{}), changed: make(chan struct{}), dropped: make(chan struct{}, 1), feeds: map[*feed]struct{}{},
	}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

// open opens the upstream watch after a revision.
func (w *sharedWatch) open(from string) {
	defer close(w.ready)
	if w.err = w.mux.acquire(); w.err != nil {
		w.end()
		return
	}
	var body io.ReadCloser
	if !w.own {
		w.err = w.reader.rejectFuture(w.ctx, from)
	}
	if w.err == nil {
		body, w.err = w.stream(w.ctx, from)
	}
	if w.err != nil {
		w.end()
		w.mux.release()
		return
	}
	w.start, w.position = from, from
	go w.run(body)
}

// run buffers events until nobody reads them or kube-apiserver fails. It reopens the upstream watch when
// kube-apiserver ends it.
func (w *sharedWatch) run(body io.ReadCloser) {
	defer w.mux.release()
	defer w.end()
	for began := time.Now(); ; began = time.Now() {
		failed := false
		w.decode(body, func(next rawEvent) bool {
			if w.reader.output.table != "" {
				w.setColumns(&next)
			}
			w.add(next)
			failed = watch.EventType(next.Type) == watch.Error
			return !failed
		})
		if failed {
			return
		}
		select {
		case <-w.ctx.Done():
			return
		case <-time.After(time.Until(began.Add(minReopenInterval))):
		}
		w.mu.Lock()
		position := w.position
		w.mu.Unlock()
		var err error
		if body, err = w.stream(w.ctx, position); err != nil {
			klog.FromContext(w.ctx).V(2).Info("An upstream watch failed", "resource", w.reader.kind.GroupResource(), "err", err)
			return
		}
	}
}

// stream opens an upstream watch.
func (w *sharedWatch) stream(ctx context.Context, from string) (io.ReadCloser, error) {
	query := w.reader.with(map[string]string{
		"watch": "true", "resourceVersion": from, "allowWatchBookmarks": "true", "timeoutSeconds": strconv.Itoa(int(wait.Jitter(minTimeout, 1).Seconds())),
	})
	// Each row needs the namespace of its object.
	if query.Get("includeObject") == string(metav1.IncludeNone) {
		query.Set("includeObject", string(metav1.IncludeMetadata))
	}
	return w.mux.upstream.stream(ctx, w.reader.kind, metav1.NamespaceAll, query, w.reader.output.accept)
}

// setColumns adds the columns to an event of a table.
func (w *sharedWatch) setColumns(next *rawEvent) {
	if w.columns == nil {
		w.columns = columnsOf(next.Object)
	}
	next.columns = w.columns
}

func (w *sharedWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *sharedWatch) hasEnded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// add buffers an event. It drops the oldest ones that exceed the memory.
func (w *sharedWatch) add(next rawEvent) {
	w.mu.Lock()
	if w.left {
		w.mu.Unlock()
		return
	}
	w.events = append(w.events, next)
	w.count(next.size())
	if next.meta.ResourceVersion != "" {
		w.position = next.meta.ResourceVersion
	}
	for w.bytes > maxWatchMemory && len(w.events) > 1 {
		w.drop()
	}
	close(w.changed)
	w.changed = make(chan struct{})
	w.mu.Unlock()
	w.mux.shrink()
}

// count adds to the bytes of the buffer. The lock must be held.
func (w *sharedWatch) count(bytes int64) {
	w.bytes += bytes
	w.mux.used.Add(bytes)
}

// drop drops the oldest event, and ends the watches that handle it. The lock must be held.
func (w *sharedWatch) drop() {
	w.count(-w.events[0].size())
	w.start = w.events[0].meta.ResourceVersion
	w.events[0] = rawEvent{}
	w.events = w.events[1:]
	w.first++
	for f := range w.feeds {
		if f.handling && f.number <= w.first {
			f.tooSlow()
		}
	}
}

// dropHandled drops the events before a number from an own watch. The lock must be held.
func (w *sharedWatch) dropHandled(number int) {
	if !w.own {
		return
	}
	for w.first < number && len(w.events) > 0 {
		w.drop()
	}
	select {
	case w.dropped <- struct{}{}:
	default:
	}
}

// waitForReader waits until the reader of an own watch has read most of its events. It returns false if ctx is done.
func (w *sharedWatch) waitForReader() bool {
	for w.own && w.size() > readAhead {
		select {
		case <-w.dropped:
		case <-w.ctx.Done():
			return false
		}
	}
	return true
}

// size returns the bytes of the buffer.
func (w *sharedWatch) size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes
}

// covers reports whether the buffer has all events after a revision. The lock must be held. Revisions that cannot be
// compared, such as those of some aggregated servers, are covered only if they are equal.
func (w *sharedWatch) covers(revision string) bool {
	if w.ended || revision == w.start {
		return !w.ended
	}
	order, err := resourceversion.CompareResourceVersion(revision, w.start)
	return err == nil && order >= 0
}
