package cli

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// maxParallel bounds the requests that are sent at the same time for one question.
const maxParallel = 10

// inParallel calls do with 0 … n-1, and returns the first error. Each call writes to its own place.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}
