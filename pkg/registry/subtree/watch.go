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
)

// minTimeout is how long a watch takes, at least, if the caller does not say; at most it is twice that.
const minTimeout = 30 * time.Minute

// watch answers a request for a watch over the subtree of root. Errors that come up after the answer has begun are told as events.
func (h *Handler) watch(ctx context.Context, w http.ResponseWriter, q *request) error {
	timeout := wait.Jitter(minTimeout, 1)
	if seconds := q.options.TimeoutSeconds; seconds != nil && *seconds > 0 {
		timeout = time.Duration(*seconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s := &session{Handler: h, request: q, out: newEvents(w, q), soon: map[string]time.Time{}, position: q.options.ResourceVersion, shown: sets.New[string]()}
	changed := h.members.change()
	namespaces, err := h.members.subtree(ctx, q.root)
	if err != nil {
		return err
	}
	s.namespaces = sets.New(namespaces...)
	if s.everywhere, err = q.rights.in(ctx, metav1.NamespaceAll); err != nil {
		return err
	}
	allowed, err := q.permitted(ctx, namespaces)
	if err != nil {
		return err
	}
	frames, err := s.start(ctx, allowed)
	if err == nil {
		err = s.follow(ctx, frames, changed)
	}
	if err != nil && s.out.begun && ctx.Err() == nil {
		s.out.fail(err)
		return nil
	}
	if ctx.Err() != nil {
		return nil // it took the time that it could take, or the caller has gone
	}
	return err
}

// start brings the caller to the position at which the watch begins: with all objects if the caller has none, else with what has
// come and gone since the caller's revision because of the tree. It returns what comes after the position.
func (s *session) start(ctx context.Context, allowed []string) (<-chan frame, error) {
	given := s.position
	all := s.options.SendInitialEvents
	if given == "" || given == "0" || all != nil && *all {
		var match metav1.ResourceVersionMatch
		if given != "" {
			match = metav1.ResourceVersionMatchNotOlderThan
		}
		head, err := s.reader.revision(ctx, given, match)
		if err != nil {
			return nil, err
		}
		s.position = head.Metadata.ResourceVersion
		if all != nil && !*all {
			s.shown.Insert(allowed...)
		} else if err := s.join(ctx, allowed); err != nil {
			return nil, err
		}
		if all != nil && *all && s.options.AllowWatchBookmarks {
			s.out.bookmark(s.position, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		}
		s.live = true
		frames, err := s.hub.watch(ctx, s.reader, s.position)
		s.out.flush()
		return frames, err
	}
	frames, err := s.hub.watch(ctx, s.reader, s.position)
	if err != nil {
		return nil, err
	}
	s.live = true
	before, left := s.since(ctx, given)
	s.shown.Insert(slices.DeleteFunc(slices.Clone(allowed), func(name string) bool { return !before.Has(name) })...)
	if _, lost, err := s.rights.among(ctx, left); err != nil {
		return nil, err
	} else if len(lost) > 0 {
		return nil, expired(s.root)
	}
	if err := s.part(ctx, left); err != nil {
		return nil, err
	}
	err = s.join(ctx, slices.DeleteFunc(slices.Clone(allowed), before.Has))
	s.out.flush()
	return frames, err
}

// follow tells what happens until ctx is done, the server stops or kube-apiserver has nothing more to say.
func (s *session) follow(ctx context.Context, frames <-chan frame, changed <-chan struct{}) error {
	ticker := time.NewTicker(recheck)
	defer ticker.Stop()
	for tick := 1; ; {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-stopping(ctx):
			return nil
		case f, ok := <-frames:
			if !ok {
				return nil
			}
			err = s.tell(ctx, f)
			if len(frames) > 0 && err == nil {
				continue
			}
		case <-changed:
			changed = s.members.change()
			err = s.regroup(ctx)
		case <-ticker.C:
			tick++
			err = s.review(ctx, tick%reviewed == 0)
		}
		if err != nil {
			return err
		}
		s.out.flush()
		if s.out.err != nil {
			return nil // nobody reads it
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
