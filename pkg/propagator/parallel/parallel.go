// Package parallel runs functions in parallel. Unlike errgroup it returns all errors, in the order of the functions:
// statuses report them, and a status that differs with each attempt would be written each time.
package parallel

import (
	"errors"
	"sync"
)

// Run runs all functions in parallel and returns their errors, joined. How many run at a time is up to the slots that
// they acquire.
func Run(functions []func() error) error {
	errs := make([]error, len(functions))
	var group sync.WaitGroup
	for i, f := range functions {
		group.Go(func() { errs[i] = f() })
	}
	group.Wait()
	return errors.Join(errs...)
}

// RunGroups runs the functions of all groups in parallel and returns the errors by group.
func RunGroups(groups map[string][]func() error) map[string]error {
	errs := make(map[string]error, len(groups))
	var mu sync.Mutex
	var running sync.WaitGroup
	for group, functions := range groups {
		running.Go(func() {
			err := Run(functions)
			mu.Lock()
			defer mu.Unlock()
			errs[group] = err
		})
	}
	running.Wait()
	return errs
}
