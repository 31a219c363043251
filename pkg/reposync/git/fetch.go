package git

import (
	"context"
	"time"
)

// fetchLimit is how long a server may take to send a revision: it may stop in the middle.
const fetchLimit = 10 * time.Minute

// fetch is the context of a fetch. limit ends it, unless it is stopped.
type fetch struct {
	context.Context
	cancel context.CancelCauseFunc
	limit  *time.Timer
	inTurn func(context.Context, func(context.Context) error) error
}

func newFetch(ctx context.Context, inTurn func(context.Context, func(context.Context) error) error) *fetch {
	ctx, cancel := context.WithCancelCause(ctx)
	return &fetch{ctx, cancel, time.AfterFunc(fetchLimit, func() { cancel(context.DeadlineExceeded) }), inTurn}
}

func (f *fetch) end() {
	f.limit.Stop()
	f.cancel(nil)
}

// unpack calls f to unpack objects, in turn if that takes much memory. Others may be in turn for any time.
func (q *quota) unpack(f func() error) error {
	if q.memory <= freeUnpacked || q.fetch == nil || q.fetch.inTurn == nil {
		return f()
	}
	q.fetch.limit.Stop()
	return q.fetch.inTurn(q.fetch, func(turn context.Context) error {
		defer context.AfterFunc(turn, func() { q.fetch.cancel(context.Cause(turn)) })()
		return f()
	})
}
