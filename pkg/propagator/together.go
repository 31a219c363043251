package propagator

import (
	"errors"
	"sync"
)

// together runs the functions concurrently and returns their errors. How many run at a time is up to the slots that they take.
func together(functions []func() error) error {
	errs := make([]error, len(functions))
	var group sync.WaitGroup
	for i, f := range functions {
		group.Go(func() { errs[i] = f() })
	}
	group.Wait()
	return errors.Join(errs...)
}

// eachTogether runs all functions concurrently and returns the errors of each group.
func eachTogether(groups map[string][]func() error) map[string]error {
	errs := make(map[string]error, len(groups))
	var mu sync.Mutex
	var running sync.WaitGroup
	for group, functions := range groups {
		running.Go(func() {
			err := together(functions)
			mu.Lock()
			defer mu.Unlock()
			errs[group] = err
		})
	}
	running.Wait()
	return errs
}
