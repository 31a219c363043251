package subtree

import (
	"cmp"
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
	// readAhead is the number of bytes that a watch which catches up may have to read before it gets more events.
	readAhead = 64 << 10
)

// watchMux multiplexes watches of kube-apiserver: all clients that watch a kind with the same output type and
// selectors read one sharedWatch.
type watchMux struct {
	upstream upstream
	limit    int
	// largeEvents are for large events that are read and decoded.
	largeEvents *slots

	mu      sync.Mutex
	watches map[string]*sharedWatch
	// buffers are all that have readers, including those that have ended or catch up.
	buffers map[*sharedWatch]struct{}
	// open counts shared watches and watches that catch up with one.
	open int
	// used is the number of bytes of events in the buffers.
	used atomic.Int64
}

// newWatchMux returns a watchMux with at most limit concurrent watches of kube-apiserver.
func newWatchMux(u upstream, limit int) *watchMux {
	return &watchMux{
		upstream: u, limit: limit, largeEvents: newSlots(),
		watches: map[string]*sharedWatch{}, buffers: map[*sharedWatch]struct{}{},
	}
}

// acquire reserves an upstream watch.
func (m *watchMux) acquire() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open >= m.limit {
		return apierrors.NewTooManyRequests("too many upstream watches with different kinds and selectors; watch without a selector, or try again later", retryAfter)
	}
	m.open++
	return nil
}

func (m *watchMux) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
}

// shrink drops events until maxMemory is left: the oldest of the largest buffer, of those that the user with most bytes
// has opened. So one user does not take the memory of others.
func (m *watchMux) shrink() {
	if m.used.Load() <= maxMemory {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.used.Load() > maxMemory {
		users := map[string]int64{}
		for w := range m.buffers {
			users[w.reader.user()] += w.size()
		}
		var largest *sharedWatch
		for w := range m.buffers {
			if largest == nil || cmp.Or(cmp.Compare(users[w.reader.user()], users[largest.reader.user()]), cmp.Compare(w.size(), largest.size())) > 0 {
				largest = w
			}
		}
		largest.mu.Lock()
		if len(largest.events) > 0 {
			largest.drop()
		}
		largest.mu.Unlock()
	}
}

// key identifies the shared watch of a reader.
func (r reader) key() string {
	return strings.Join([]string{r.kind.String(), r.output.accept, r.query.Encode()}, "|")
}

// watch returns the events of the whole cluster after a revision. They end when the upstream watch does or the caller
// reads too slowly; the client then starts a new watch. The caller must call leave.
func (m *watchMux) watch(ctx context.Context, r reader, from string) (*feed, error) {
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
		f := newFeed(w)
		if f.read(from) {
			return f, nil
		}
		if err := m.catchUp(ctx, r, f, from); err != nil {
			m.leave(w)
			return nil, err
		}
		return f, nil
	}
}

// join returns the shared watch of a reader, and whether the caller has to open it. The caller must call leave.
func (m *watchMux) join(r reader) (w *sharedWatch, created bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := r.key()
	if w = m.watches[key]; w == nil || w.hasEnded() {
		w, created = newSharedWatch(context.Background(), m, r), true
		m.watches[key] = w
		m.buffers[w] = struct{}{}
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
	delete(m.buffers, w)
	if key := w.reader.key(); m.watches[key] == w {
		delete(m.watches, key)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = true
	w.count(-w.bytes)
	w.events = nil
}

// catchUp has a feed read events that are no longer buffered from an upstream watch of its own, until the shared watch
// covers its position. They count for the user who reads them, and not for the one who has opened the shared watch.
func (m *watchMux) catchUp(ctx context.Context, r reader, f *feed, from string) error {
	own := newSharedWatch(ctx, m, r)
	own.own, own.watchers = true, 1
	m.mu.Lock()
	m.buffers[own] = struct{}{}
	m.mu.Unlock()
	f.source, f.position = own, from
	own.feeds[f] = struct{}{}
	own.open(from)
	if own.err != nil {
		m.leave(own)
	}
	return own.err
}
