package subtree

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
)

// recheckPeriod is the interval of permission checks that no event triggers.
const recheckPeriod = time.Second

// forward forwards a request for the whole cluster unchanged if the caller is allowed to make it there.
func (h *handler) forward(ctx context.Context, w http.ResponseWriter, query url.Values, q *request) error {
	allowed, err := q.permissions.allowedIn(ctx, "")
	if err != nil {
		return err
	}
	if !allowed {
		return q.permissions.forbidden("")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := h.upstream.stream(ctx, q.reader.kind, "", query, q.reader.output.accept)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if q.options.Watch {
		utilflowcontrol.WatchInitialized(ctx)
		go q.stopWhenForbidden(ctx, cancel)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush(w)
	buffer := make([]byte, 32*1024)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return nil // the caller has disconnected
			}
			if q.options.Watch {
				flush(w)
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !q.options.Watch {
				panic(http.ErrAbortHandler) // a truncated list must not look complete
			}
			return nil
		}
	}
}

// stopWhenForbidden ends a watch of the whole cluster when the permission is revoked or the server stops.
func (q *request) stopWhenForbidden(ctx context.Context, end func()) {
	defer end()
	ticker := time.NewTicker(recheckPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopping(ctx):
			return
		case <-ticker.C:
			if q.permissions.decisions.holds("") {
				continue
			}
			if allowed, err := q.permissions.allowedIn(ctx, ""); err != nil || !allowed {
				return
			}
		}
	}
}

func flush(w http.ResponseWriter) {
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}
