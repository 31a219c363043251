package subtree

import (
	"context"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// feed is the position of one watch in the buffer of a sharedWatch. The watch handles one event at a time and keeps no
// other, so all events in memory are in buffers: a watch that still handles an event when it is dropped is ended.
type feed struct {
	// source is the sharedWatch that is read: shared, or one of its own that catches up with it.
	source, shared *sharedWatch
	// slow is done when the event that the watch handles is dropped.
	slow    context.Context
	tooSlow context.CancelFunc
	// position is the revision of the last event. Events up to the revision after are skipped while skip is set.
	position, after string
	skip            bool

	// number is that of the next event, handling whether the watch handles the one before. The lock of source guards
	// them.
	number   int
	handling bool
}

// closed is a closed channel.
var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func newFeed(shared *sharedWatch) *feed {
	f := &feed{shared: shared}
	f.slow, f.tooSlow = context.WithCancel(context.Background())
	return f
}

// read continues after a revision of the shared watch. It returns false if that does not cover the revision.
func (f *feed) read(after string) bool {
	w := f.shared
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.covers(after) {
		return false
	}
	f.source, f.position, f.after = w, after, after
	f.number, f.skip = w.first, after != w.start
	w.feeds[f] = struct{}{}
	return true
}

// more returns a channel that is closed when next has to be called. The last event counts as handled from now on.
func (f *feed) more() <-chan struct{} {
	w := f.source
	w.mu.Lock()
	f.handling = false
	w.dropHandled(f.number)
	var changed <-chan struct{} = w.changed
	if w.ended || f.number < w.first+len(w.events) {
		changed = closed
	}
	w.mu.Unlock()
	if w.own && f.read(f.position) {
		w.mux.leave(w)
		return f.more()
	}
	return changed
}

// isLast reports whether no further event is available.
func (f *feed) isLast() bool {
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	return f.number >= f.source.first+len(f.source.events)
}

// next returns the next event, which the caller handles until it calls more. found is false if there is none yet, open
// is false at the end of the watch.
func (f *feed) next(ctx context.Context) (e rawEvent, found, open bool) {
	w := f.source
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.number < w.first {
		klog.FromContext(ctx).V(2).Info("Closing a watch across a subtree because the client reads too slowly", "resource", w.reader.kind.GroupResource())
		return e, false, false
	}
	for _, e = range w.events[f.number-w.first:] {
		f.number++
		if f.skip {
			if watch.EventType(e.Type) == watch.Error {
				// The error may be that of the revision of whoever opened the watch. The client continues from its own.
				return e, false, false
			}
			if order, err := resourceversion.CompareResourceVersion(e.meta.ResourceVersion, f.after); err == nil && order <= 0 {
				continue
			}
			f.skip = false
		}
		f.handling, f.position = true, e.meta.ResourceVersion
		return e, true, true
	}
	return rawEvent{}, false, !w.ended
}

// leave ends the feed.
func (f *feed) leave() {
	f.source.mu.Lock()
	delete(f.source.feeds, f)
	f.source.mu.Unlock()
	if f.source.own {
		f.source.mux.leave(f.source)
	}
	f.shared.mux.leave(f.shared)
	f.tooSlow()
}
