// Package parallel runs functions in parallel. Unlike errgroup it returns all errors, in the order of the functions:
// statuses report them, and a status that differs with each attempt would be written each time.
package parallel

import (
	"errors"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many functions Run runs at a time.
const atOnce = 32

// Run runs all functions in parallel and returns their errors, joined.
func Run(functions []func() error) error { return errors.Join(RunAll(atOnce, functions)...) }

// RunAll runs all functions in parallel, at most limit at a time, and returns the error of each.
func RunAll(limit int, functions []func() error) []error {
	errs := make([]error, len(functions))
	var group errgroup.Group
	group.SetLimit(limit)
	for i, f := range functions {
		group.Go(func() error {
			errs[i] = f()
			return nil
		})
	}
	_ = group.Wait()
	return errs
}
