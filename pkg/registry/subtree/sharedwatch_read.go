package subtree

import (
	"context"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// read sends the events after a revision until ctx is done, the watch ends or the reader is too slow.
func (w *sharedWatch) read(ctx context.Context, after string, events chan<- rawEvent) {
	w.mu.Lock()
	if !w.coversLocked(after) {
		w.mu.Unlock()
		return
	}
	number, skip := w.first, after != w.start
	w.mu.Unlock()
	batch := make([]rawEvent, eventBuffer)
	for {
		n, changed, ok := w.next(number, batch)
		if !ok {
			klog.FromContext(ctx).V(2).Info("Closing a watch across a subtree because the client reads too slowly", "resource", w.reader.kind.GroupResource())
			return
		}
		for _, next := range batch[:n] {
			number++
			if skip {
				if watch.EventType(next.Type) == watch.Error {
					// The error may be that of the revision of whoever opened the watch. The client continues from its own.
					return
				}
				if order, err := resourceversion.CompareResourceVersion(next.meta.ResourceVersion, after); err == nil && order <= 0 {
					continue
				}
				skip = false
			}
			if !send(ctx, events, next) {
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

// next copies events from a number on and returns how many. With none available, changed is closed when there may be
// more; it is nil at the end of the watch. ok is false if the event with that number was dropped.
func (w *sharedWatch) next(number int, batch []rawEvent) (n int, changed <-chan struct{}, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number < w.first {
		return 0, nil, false
	}
	n = copy(batch, w.events[number-w.first:])
	if !w.ended {
		changed = w.changed
	}
	return n, changed, true
}

func send(ctx context.Context, events chan<- rawEvent, next rawEvent) bool {
	select {
	case events <- next:
		return true
	case <-ctx.Done():
		return false
	}
}
