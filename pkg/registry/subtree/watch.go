package subtree

import (
	"context"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
)

// minTimeout is the minimum duration of a watch without timeoutSeconds. The maximum is twice that.
const minTimeout = 30 * time.Minute

// watch serves a watch across the subtree of root. Once the response has started, errors are sent as events.
func (h *handler) watch(ctx context.Context, rw http.ResponseWriter, q *request) error {
	timeout := wait.Jitter(minTimeout, 1)
	if seconds := q.options.TimeoutSeconds; seconds != nil && *seconds > 0 {
		timeout = time.Duration(*seconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sent := func() {}
	if q.sendsAll() {
		release, err := h.limits["list"].Acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		sent = release
	}
	w := &watcher{handler: h, request: q, out: newEventWriter(rw, q), cancel: cancel, awaitingGrant: map[string]time.Time{}, position: q.options.ResourceVersion, visible: sets.New[string]()}
	changed := h.members.changes()
	namespaces, err := h.members.subtree(ctx, q.root)
	if err != nil {
		return err
	}
	w.namespaces = sets.New(namespaces...)
	if w.clusterWide, err = q.permissions.allowedIn(ctx, metav1.NamespaceAll); err != nil {
		return err
	}
	defer w.close()
	events, err := w.start(ctx, namespaces, sent)
	if err == nil {
		err = w.follow(ctx, events, changed)
	}
	if err != nil && w.out.started && ctx.Err() == nil {
		w.out.writeError(err)
		return nil
	}
	if ctx.Err() != nil {
		return nil // the watch timed out or the caller has disconnected
	}
	return err
}

// sendsAll reports whether a watch begins with all objects. It counts as a list until it has sent them.
func (q *request) sendsAll() bool {
	if all := q.options.SendInitialEvents; all != nil {
		return *all
	}
	return q.options.ResourceVersion == "" || q.options.ResourceVersion == "0"
}

// start brings the caller to the position at which the watch begins. It sends all objects if the caller has none, and
// calls sent, otherwise the objects of the namespaces that have joined or left since the caller's revision. It returns
// the events after the position.
func (w *watcher) start(ctx context.Context, namespaces []string, sent func()) (*feed, error) {
	allowed, err := w.allowedNamespaces(ctx, namespaces)
	if err != nil {
		return nil, err
	}
	if given := w.position; w.sendsAll() || given == "" || given == "0" {
		var match metav1.ResourceVersionMatch
		if given != "" {
			match = metav1.ResourceVersionMatchNotOlderThan
		}
		head, err := w.reader.currentRevision(ctx, given, match)
		if err != nil {
			return nil, err
		}
		w.position = head.Metadata.ResourceVersion
		if !w.sendsAll() {
			w.visible.Insert(allowed...)
		} else if err := w.addNamespaces(ctx, allowed); err != nil {
			return nil, err
		} else if w.options.SendInitialEvents != nil && w.options.AllowWatchBookmarks {
			w.out.writeBookmark(w.position, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		}
		sent()
		w.started, w.reader.slots = true, w.continued
		events, err := w.open(ctx)
		w.out.flush()
		return events, err
	}
	before, left, err := w.resume(ctx)
	if err != nil {
		return nil, err
	}
	w.started, w.reader.slots = true, w.continued
	w.visible.Insert(slices.DeleteFunc(slices.Clone(allowed), func(name string) bool { return !before.Has(name) })...)
	visible, hidden, err := w.permissions.partition(ctx, left)
	if err != nil {
		return nil, err
	}
	w.leaving = hidden
	if err := w.checkLeaving(); err != nil {
		return nil, err
	}
	if err := w.removeNamespaces(ctx, visible); err != nil {
		return nil, err
	}
	err = w.addNamespaces(ctx, slices.DeleteFunc(slices.Clone(allowed), before.Has))
	w.out.flush()
	return w.events, err
}

// resume opens the upstream watch at the caller's revision and returns membersAt. Few watches read namespaces at a time.
// One that waits reads no events yet, and holds no seat of priority and fairness.
func (w *watcher) resume(ctx context.Context) (before sets.Set[string], left []string, err error) {
	if !w.otherRevisions(w.reader.kind.GroupVersionResource) {
		utilflowcontrol.WatchInitialized(ctx)
		release, err := w.continued.acquire(ctx, w.reader.memory)
		if err != nil {
			return nil, nil, err
		}
		defer release()
	}
	if _, err := w.open(ctx); err != nil {
		return nil, nil, err
	}
	return w.membersAt(ctx, w.position)
}

// open opens the upstream watch at the position. The watch ends when an event that it handles is dropped, because
// nothing counts that event any more.
func (w *watcher) open(ctx context.Context) (events *feed, err error) {
	if w.events, err = w.mux.watch(ctx, w.reader, w.position); err == nil {
		context.AfterFunc(w.events.slow, func() {
			w.out.abort()
			w.cancel()
		})
	}
	return w.events, err
}

// close ends what open has begun.
func (w *watcher) close() {
	w.out.close()
	if w.events != nil {
		w.events.leave()
	}
}

// follow handles events until ctx is done, the server stops or the upstream watch ends.
func (w *watcher) follow(ctx context.Context, events *feed, changed <-chan struct{}) error {
	utilflowcontrol.WatchInitialized(ctx) // or the watch would hold a seat of priority and fairness until it ends
	ticker := time.NewTicker(recheckPeriod)
	defer ticker.Stop()
	for tick := 1; ; {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-stopping(ctx):
			return nil
		case <-events.more():
			e, found, open := events.next(ctx)
			if !open {
				return nil
			}
			if found {
				err = w.handleEvent(ctx, e)
			}
			if !events.isLast() && err == nil && w.out.err == nil {
				continue
			}
		case <-changed:
			changed = w.members.changes()
			err = w.updateMembers(ctx)
		case <-ticker.C:
			tick++
			err = w.recheckPermissions(ctx, tick%recheckTicks == 0)
		}
		if err != nil {
			return err
		}
		w.out.flush()
		if w.out.err != nil {
			return nil // the caller has disconnected, or has to list again
		}
	}
}

// stopping returns a channel that is closed when the server stops.
func stopping(ctx context.Context) <-chan struct{} {
	if signals := genericapirequest.ServerShutdownSignalFrom(ctx); signals != nil {
		return signals.ShuttingDown()
	}
	return nil
}
