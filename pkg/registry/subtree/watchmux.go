package subtree

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxMemory bounds the bytes of buffered events of all shared watches, maxWatchMemory those of one.
	maxMemory      = 64 << 20
	maxWatchMemory = 8 << 20
	// eventBuffer is the capacity of the channel between a shared watch and a reader.
	eventBuffer = 32
)

// watchMux multiplexes watches of kube-apiserver: all clients that watch a kind with the same output type and
// selectors read one sharedWatch.
type watchMux struct {
	upstream upstream
	limit    int

	mu      sync.Mutex
	watches map[string]*sharedWatch
	// open counts shared watches and watches that catch up with one.
	open int
	// memoryLimit is the number of bytes of events that a shared watch may buffer.
	memoryLimit atomic.Int64
}

// newWatchMux returns a watchMux with at most limit concurrent watches of kube-apiserver.
func newWatchMux(u upstream, limit int) *watchMux {
	return &watchMux{upstream: u, limit: limit, watches: map[string]*sharedWatch{}}
}

// acquire reserves an upstream watch.
func (m *watchMux) acquire() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open >= m.limit {
		return apierrors.NewTooManyRequests("too many upstream watches with different kinds and selectors; watch without a selector, or try again later", retryAfter)
	}
	m.open++
	m.updateMemoryLimit()
	return nil
}

func (m *watchMux) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
	m.updateMemoryLimit()
}

// updateMemoryLimit divides the memory among the shared watches. The lock must be held.
func (m *watchMux) updateMemoryLimit() {
	m.memoryLimit.Store(min(maxWatchMemory, int64(maxMemory/max(1, m.open))))
}

// key identifies the shared watch of a reader.
func (r reader) key() string {
	return strings.Join([]string{r.kind.String(), r.output.accept, r.query.Encode()}, "|")
}

// watch returns the events of the whole cluster after a revision. The channel is closed when the watch ends or the
// caller reads too slowly; the client then starts a new watch.
func (m *watchMux) watch(ctx context.Context, r reader, from string) (<-chan rawEvent, error) {
	for {
		w, created := m.join(r)
		if created {
			w.open(from)
		}
		select {
		case <-w.ready:
		case <-ctx.Done():
			m.leave(w)
			return nil, ctx.Err()
		}
		if w.err != nil || !created && w.hasEnded() {
			m.leave(w)
			if created {
				return nil, w.err
			}
			continue // the error may depend on the revision of the client that opened it
		}
		if w.covers(from) {
			return m.read(ctx, w, from), nil
		}
		events, err := m.catchUp(ctx, w, from)
		if err != nil {
			m.leave(w)
		}
		return events, err
	}
}

// join returns the shared watch of a reader, and whether the caller has to open it. The caller must call leave.
func (m *watchMux) join(r reader) (w *sharedWatch, created bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := r.key()
	if w = m.watches[key]; w == nil || w.hasEnded() {
		w, created = newSharedWatch(m, r), true
		m.watches[key] = w
	}
	w.watchers++
	return w, created
}

// leave stops a shared watch after its last reader.
func (m *watchMux) leave(w *sharedWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.watchers--; w.watchers > 0 {
		return
	}
	w.cancel()
	if key := w.reader.key(); m.watches[key] == w {
		delete(m.watches, key)
	}
}

// read returns the events of a shared watch after a revision, and leaves it at the end.
func (m *watchMux) read(ctx context.Context, w *sharedWatch, after string) <-chan rawEvent {
	events := make(chan rawEvent, eventBuffer)
	go func() {
		defer close(events)
		defer m.leave(w)
		w.read(ctx, after, events)
	}()
	return events
}

// catchUp reads events that are no longer buffered from a separate upstream watch, until the shared watch covers the
// position.
func (m *watchMux) catchUp(ctx context.Context, w *sharedWatch, from string) (<-chan rawEvent, error) {
	if err := m.acquire(); err != nil {
		return nil, err
	}
	own, stop := context.WithCancel(ctx)
	body, err := w.stream(own, from)
	if err != nil {
		stop()
		m.release()
		return nil, err
	}
	events := make(chan rawEvent, eventBuffer)
	go func() {
		defer close(events)
		defer m.leave(w)
		position, caught := from, false
		func() {
			defer m.release()
			defer stop()
			w.reader.decode(own, body, func(next rawEvent) bool {
				if w.reader.output.table != "" {
					next.columns = columnsOf(next.Object)
				}
				if !send(ctx, events, next) {
					return false
				}
				position = next.meta.ResourceVersion
				caught = w.covers(position)
				return !caught
			})
		}()
		if caught {
			w.read(ctx, position, events)
		}
	}()
	return events, nil
}
