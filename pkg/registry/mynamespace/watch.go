package mynamespace

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	// settle is how long changes are gathered before a reader is told of them: they come in crowds.
	settle = 20 * time.Millisecond
	// bookmarkPeriod is how often a reader to whom nothing happens is told the version of now, so that his own does not get too old.
	bookmarkPeriod = 30 * time.Second
)

// watcher tells a reader what changes. It keeps no picture of its own: what the reader knows follows from the version that he has.
type watcher struct {
	picture *Picture
	reader  reader
	version int64
	// initial is what is told first; announce says so when that has been told.
	initial  []*hnc.MyNamespace
	announce bool
	// resumed says that the reader has the version from an earlier watch, or from a list.
	resumed bool
	// bookmarks are wanted.
	bookmarks bool

	results chan watch.Event
	stop    context.CancelFunc
}

// Stop ends it.
func (w *watcher) Stop() { w.stop() }

// ResultChan returns what is told. It is closed at the end.
func (w *watcher) ResultChan() <-chan watch.Event { return w.results }

func (w *watcher) run(ctx context.Context) {
	defer close(w.results)
	if !w.begin(ctx) {
		return
	}
	bookmark := time.NewTicker(bookmarkPeriod)
	defer bookmark.Stop()
	for {
		events, latest, changed, ok := w.picture.events(w.reader, w.version, w.resumed)
		if !ok {
			w.send(ctx, watch.Event{Type: watch.Error, Object: &expired(w.version).ErrStatus})
			return
		}
		for _, event := range events {
			if !w.send(ctx, event) {
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
			case <-time.After(settle):
			}
		}
	}
}

// begin tells what is told first.
func (w *watcher) begin(ctx context.Context) bool {
	for _, o := range w.initial {
		if !w.send(ctx, watch.Event{Type: watch.Added, Object: o}) {
			return false
		}
	}
	w.initial = nil
	if w.announce && w.bookmarks {
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
