package git

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// abandoned is a request that has not ended with its context.
type abandoned struct {
	ended chan struct{}
	since time.Time
}

// abandonedFor is how long an abandoned request prevents others: its connection may stay forever.
const abandonedFor = 10 * time.Minute

// abandon calls f, and returns when f has returned or when the context ends: go-git opens connections of ssh without a
// context, so that a server which accepts a connection and says nothing would stop everything. A late result is
// discarded. For a while, there is no further call.
func abandon[T any](ctx context.Context, last *abandoned, f func() (T, error), discard func(T)) (result T, err error) {
	if last.ended != nil && time.Since(last.since) < abandonedFor {
		select {
		case <-last.ended:
		default:
			return result, errors.New("the server has not answered an earlier request, which has not ended yet")
		}
	}
	type outcome struct {
		result T
		err    error
	}
	done, results := make(chan struct{}), make(chan outcome)
	go func() {
		defer close(done)
		var o outcome
		o.result, o.err = f()
		select {
		case results <- o:
		case <-ctx.Done():
			if o.err == nil {
				discard(o.result)
			}
		}
	}()
	select {
	case o := <-results:
		return o.result, o.err
	case <-ctx.Done():
		*last = abandoned{done, time.Now()}
		return result, fmt.Errorf("the server did not answer in time: %w", context.Cause(ctx))
	}
}
