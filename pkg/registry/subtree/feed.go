package subtree

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/klog/v2"
)

// reopened is the least time between two watches of kube-apiserver for one feed.
const reopened = time.Second

// feed is one watch of kube-apiserver in the whole cluster, and what it has told lately. Each reader has a place of its own in that, and no
// buffer: one that falls so far behind that its next event is forgotten is cut off, and neither slows others down nor takes memory.
type feed struct {
	hub    *hub
	reader reader
	// ctx is the feed's own: it outlives the request that opens it.
	ctx    context.Context
	cancel context.CancelFunc
	// watchers is guarded by the hub's lock.
	watchers int
	// opened is closed when kube-apiserver has answered; err is its error.
	opened chan struct{}
	err    error
	// columns is of a feed of tables; only run uses it.
	columns json.RawMessage

	mu sync.Mutex
	// events are the last ones, all after the revision start. The first has the number first.
	events []frame
	bytes  int64
	first  int
	start  string
	// position is the revision of the last event.
	position string
	// changed is closed, and replaced, when there is another event.
	changed chan struct{}
	ended   bool
}

func newFeed(h *hub, r reader) *feed {
	f := &feed{hub: h, reader: r, opened: make(chan struct{}), changed: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// open opens the watch after a revision.
func (f *feed) open(from string) {
	defer close(f.opened)
	if f.err = f.hub.take(); f.err != nil {
		f.end()
		return
	}
	var body io.ReadCloser
	if f.err = f.began(from); f.err == nil {
		body, f.err = f.stream(f.ctx, from)
	}
	if f.err != nil {
		f.end()
		f.hub.release()
		return
	}
	f.start, f.position = from, from
	go f.run(body)
}

// began returns an error if a revision is in the future. kube-apiserver would wait for it, and nobody else could share the feed until then.
func (f *feed) began(revision string) error {
	head, err := f.reader.revision(f.ctx, "", "")
	if err != nil {
		return err
	}
	now := head.Metadata.ResourceVersion
	if order, err := resourceversion.CompareResourceVersion(revision, now); err == nil && order > 0 {
		asked, _ := strconv.ParseUint(revision, 10, 64)
		current, _ := strconv.ParseUint(now, 10, 64)
		return storage.NewTooLargeResourceVersionError(asked, current, retryAfter)
	}
	return nil
}

// run collects events until nobody watches or kube-apiserver fails. A watch that has ended, as each does after a while, is followed by another.
func (f *feed) run(body io.ReadCloser) {
	defer f.hub.release()
	defer f.end()
	for began := time.Now(); ; began = time.Now() {
		failed := false
		decode(body, func(next frame) bool {
			if f.reader.form.table != "" {
				f.name(&next)
			}
			f.add(next)
			failed = next.err != nil || watch.EventType(next.Type) == watch.Error
			return !failed
		})
		if failed {
			return
		}
		select {
		case <-f.ctx.Done():
			return
		case <-time.After(time.Until(began.Add(reopened))):
		}
		f.mu.Lock()
		position := f.position
		f.mu.Unlock()
		var err error
		if body, err = f.stream(f.ctx, position); err != nil {
			klog.FromContext(f.ctx).V(2).Info("A watch across subtrees ends", "resource", f.reader.kind.GroupResource(), "err", err)
			return
		}
	}
}

// name has an event of a table name the columns.
func (f *feed) name(next *frame) {
	if f.columns == nil {
		f.columns = columnsOf(next.Object)
	}
	next.columns = f.columns
}

func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

func (f *feed) add(next frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, next)
	f.bytes += next.size()
	if next.id.ResourceVersion != "" {
		f.position = next.id.ResourceVersion
	}
	for limit := f.hub.memory.Load(); f.bytes > limit && len(f.events) > 1; f.first++ {
		f.bytes -= f.events[0].size()
		f.start = f.events[0].id.ResourceVersion
		f.events[0] = frame{}
		f.events = f.events[1:]
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// covers says whether the feed knows all events after a revision.
func (f *feed) covers(revision string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.knows(revision)
}

// knows is covers with the lock held. Revisions that can't be compared, as those of some aggregated servers, are known only if they are equal.
func (f *feed) knows(revision string) bool {
	if f.ended || revision == f.start {
		return !f.ended
	}
	order, err := resourceversion.CompareResourceVersion(revision, f.start)
	return err == nil && order >= 0
}

// read sends the events after a revision until ctx is done, the feed ends or the reader is too slow.
func (f *feed) read(ctx context.Context, after string, frames chan<- frame) {
	f.mu.Lock()
	if !f.knows(after) {
		f.mu.Unlock()
		return
	}
	number, skip := f.first, after != f.start
	f.mu.Unlock()
	batch := make([]frame, buffered)
	for {
		n, changed, ok := f.next(number, batch)
		if !ok {
			klog.FromContext(ctx).V(2).Info("A watch across a subtree is too slow, and ends", "resource", f.reader.kind.GroupResource())
			return
		}
		for _, next := range batch[:n] {
			number++
			if skip && next.err == nil && watch.EventType(next.Type) != watch.Error {
				if order, err := resourceversion.CompareResourceVersion(next.id.ResourceVersion, after); err == nil && order <= 0 {
					continue
				}
				skip = false
			}
			if !send(ctx, frames, next) {
				return
			}
		}
		if n > 0 {
			continue
		}
		if changed == nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// next copies events from a number on, and returns how many there are. If there are none yet, changed is closed when there may be; it is nil at the
// end of the feed. ok is false if the event of that number is forgotten.
func (f *feed) next(number int, batch []frame) (n int, changed <-chan struct{}, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number < f.first {
		return 0, nil, false
	}
	n = copy(batch, f.events[number-f.first:])
	if !f.ended {
		changed = f.changed
	}
	return n, changed, true
}

func send(ctx context.Context, frames chan<- frame, next frame) bool {
	select {
	case frames <- next:
		return true
	case <-ctx.Done():
		return false
	}
}
