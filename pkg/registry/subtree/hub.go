package subtree

import (
	"context"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// maxFeeds is how many watches of kube-apiserver there are at the same time.
	maxFeeds = 200
	// maxMemory is how many bytes of events all feeds together remember, maxFeedMemory how many one does at most.
	maxMemory     = 64 << 20
	maxFeedMemory = 8 << 20
	// buffered is how many events are on their way from a feed to a watch.
	buffered = 32
)

// hub shares watches of kube-apiserver: all clients that watch a kind in the same form and by the same selectors read one feed.
type hub struct {
	upstream upstream

	mu    sync.Mutex
	feeds map[string]*feed
	// opened is the number of feeds and of watches that catch up with one.
	opened int
	// memory is how many bytes of events a feed remembers.
	memory atomic.Int64
}

func newHub(u upstream) *hub { return &hub{upstream: u, feeds: map[string]*feed{}} }

// take counts a watch of kube-apiserver that is about to be opened.
func (h *hub) take() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.opened >= maxFeeds {
		return apierrors.NewTooManyRequests("too many different kinds and selectors are being watched across subtrees; watch without a selector, or try again later", retryAfter)
	}
	h.opened++
	h.share()
	return nil
}

func (h *hub) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened--
	h.share()
}

// share divides the memory among the feeds. The lock must be held.
func (h *hub) share() { h.memory.Store(min(maxFeedMemory, int64(maxMemory/max(1, h.opened)))) }

// key identifies the feed that a reader can share.
func (r reader) key() string {
	return strings.Join([]string{r.kind.String(), r.form.accept, r.query.Encode()}, "|")
}

// watch returns the events of the whole cluster after a revision. The channel is closed when there are no more, or when the caller reads them
// too slowly: then the caller goes on with a new watch.
func (h *hub) watch(ctx context.Context, r reader, from string) (<-chan frame, error) {
	for {
		f, created := h.join(r)
		if created {
			f.open(from)
		}
		select {
		case <-f.opened:
		case <-ctx.Done():
			h.leave(f)
			return nil, ctx.Err()
		}
		if f.err != nil {
			h.leave(f)
			if created {
				return nil, f.err
			}
			continue // another client's revision may have been the reason
		}
		if f.covers(from) {
			return h.read(ctx, f, from), nil
		}
		frames, err := h.catchUp(ctx, f, from)
		if err != nil {
			h.leave(f)
		}
		return frames, err
	}
}

// join returns the feed for a reader, and whether the caller has to open it. The caller has to leave it.
func (h *hub) join(r reader) (f *feed, created bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := r.key()
	if f = h.feeds[key]; f == nil || f.closed() {
		f, created = newFeed(h, r), true
		h.feeds[key] = f
	}
	f.watchers++
	return f, created
}

// leave stops a feed after its last watcher.
func (h *hub) leave(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.watchers--; f.watchers > 0 {
		return
	}
	f.cancel()
	if key := f.reader.key(); h.feeds[key] == f {
		delete(h.feeds, key)
	}
}

// read returns the events of a feed after a revision, and leaves the feed at the end.
func (h *hub) read(ctx context.Context, f *feed, after string) <-chan frame {
	frames := make(chan frame, buffered)
	go func() {
		defer close(frames)
		defer h.leave(f)
		f.read(ctx, after, frames)
	}()
	return frames
}

// catchUp reads events from a revision that the feed does not remember by a watch of the caller's own, until the feed goes on from there.
func (h *hub) catchUp(ctx context.Context, f *feed, from string) (<-chan frame, error) {
	if err := h.take(); err != nil {
		return nil, err
	}
	own, stop := context.WithCancel(ctx)
	body, err := f.stream(own, from)
	if err != nil {
		stop()
		h.release()
		return nil, err
	}
	frames := make(chan frame, buffered)
	go func() {
		defer close(frames)
		defer h.leave(f)
		position, caught := from, false
		func() {
			defer h.release()
			defer stop()
			decode(body, func(next frame) bool {
				if f.reader.form.table != "" {
					next.columns = columnsOf(next.Object)
				}
				if !send(ctx, frames, next) {
					return false
				}
				position = next.id.ResourceVersion
				caught = next.err == nil && f.covers(position)
				return !caught
			})
		}()
		if caught {
			f.read(ctx, position, frames)
		}
	}()
	return frames, nil
}

// stream opens a watch of kube-apiserver.
func (f *feed) stream(ctx context.Context, from string) (io.ReadCloser, error) {
	query := f.reader.with(map[string]string{
		"watch": "true", "resourceVersion": from, "allowWatchBookmarks": "true", "timeoutSeconds": strconv.Itoa(int(wait.Jitter(minTimeout, 1).Seconds())),
	})
	// Every row has to say whose it is.
	if query.Get("includeObject") == string(metav1.IncludeNone) {
		query.Set("includeObject", string(metav1.IncludeMetadata))
	}
	return f.hub.upstream.stream(ctx, f.reader.kind, metav1.NamespaceAll, query, f.reader.form.accept)
}
