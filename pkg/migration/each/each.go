// Package each writes objects one by one, several at a time.
package each

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// parallelism is how many objects are written at a time.
const parallelism = 8

// Of calls write for all objects, and returns the first error, after which no further object is begun.
func Of[T any](ctx context.Context, objects []T, write func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	for _, object := range objects {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return write(ctx, object)
		})
	}
	return group.Wait()
}
