package mynamespace

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	// debounce is how long changes are collected before events are sent, because changes come in bursts.
	debounce = 20 * time.Millisecond
	// bookmarkPeriod is the interval of bookmarks to idle readers, so that their version does not expire.
	bookmarkPeriod = 30 * time.Second
)

// event is an event of a watch. A watch that is not read keeps many, so each refers to the cached object.
type event struct {
	what    watch.EventType
	name    string
	version int64
	// object is nil if the event contains the name alone.
	object *hnc.MyNamespace
}

func (e event) watchEvent() watch.Event {
	o := hnc.MyNamespace{ObjectMeta: metav1.ObjectMeta{Name: e.name}}
	if e.object != nil {
		o = *e.object
	}
	o.ResourceVersion = format(e.version)
	return watch.Event{Type: e.what, Object: &o}
}

// watcher sends the changes visible to a reader. It holds no state of the reader besides the version.
type watcher struct {
	cache   *Cache
	reader  reader
	version int64
	// initial holds the initial events; endOfInitialEvents requests a bookmark after them.
	initial            []*hnc.MyNamespace
	endOfInitialEvents bool
	// resumed reports that the version comes from an earlier watch or list.
	resumed bool
	// bookmarks reports that the client accepts bookmarks.
	bookmarks bool

	results chan watch.Event
	stop    context.CancelFunc
}

// Stop stops the watch.
func (w *watcher) Stop() { w.stop() }

// ResultChan returns the events. It is closed at the end.
func (w *watcher) ResultChan() <-chan watch.Event { return w.results }

func (w *watcher) run(ctx context.Context) {
	defer close(w.results)
	if !w.begin(ctx) {
		return
	}
	bookmark := time.NewTicker(bookmarkPeriod)
	defer bookmark.Stop()
	for {
		events, latest, changed, err := w.cache.events(w.reader, w.version, w.resumed)
		if err != nil {
			w.send(ctx, watch.Event{Type: watch.Error, Object: &err.ErrStatus})
			return
		}
		for _, event := range events {
			if !w.send(ctx, event.watchEvent()) {
				return
			}
		}
		w.version, w.resumed = latest, false
		select {
		case <-ctx.Done():
			return
		case <-bookmark.C:
			if w.bookmarks && !w.send(ctx, w.bookmark(nil)) {
				return
			}
		case <-changed:
			select {
			case <-ctx.Done():
				return
			case <-time.After(debounce):
			}
		}
	}
}

// begin sends the initial events.
func (w *watcher) begin(ctx context.Context) bool {
	for _, o := range w.initial {
		if !w.send(ctx, watch.Event{Type: watch.Added, Object: o}) {
			return false
		}
	}
	w.initial = nil
	if w.endOfInitialEvents && w.bookmarks {
		return w.send(ctx, w.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"}))
	}
	return true
}

func (w *watcher) bookmark(annotations map[string]string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &hnc.MyNamespace{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: format(w.version), Annotations: annotations},
	}}
}

func (w *watcher) send(ctx context.Context, event watch.Event) bool {
	select {
	case w.results <- event:
		return true
	case <-ctx.Done():
		return false
	}
}
