package subtree

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// recheck is how often a right is asked about that nothing else asks about.
const recheck = time.Second

// forward passes a request for the whole cluster on as it is, for who may make it there.
func (h *Handler) forward(ctx context.Context, w http.ResponseWriter, query url.Values, q *request) error {
	allowed, err := q.rights.in(ctx, "")
	if err != nil {
		return err
	}
	if !allowed {
		return q.rights.refused("")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := h.upstream.stream(ctx, q.reader.kind, "", query, q.reader.form.accept)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if q.options.Watch {
		go q.guard(ctx, cancel)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush(w)
	buffer := make([]byte, 32*1024)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return nil // the caller has gone
			}
			if q.options.Watch {
				flush(w)
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !q.options.Watch {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
			return nil
		}
	}
}

// guard ends a watch of the whole cluster when the right to it is taken away, or the server stops.
func (q *request) guard(ctx context.Context, end func()) {
	defer end()
	ticker := time.NewTicker(recheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopping(ctx):
			return
		case <-ticker.C:
			if allowed, err := q.rights.in(ctx, ""); err != nil || !allowed {
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
