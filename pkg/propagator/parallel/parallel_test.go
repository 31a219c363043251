package parallel

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

// Tenants decide how many functions there are.
func TestGoroutinesAreBounded(t *testing.T) {
	before, most := runtime.NumGoroutine(), atomic.Int64{}
	functions, wanted := make([]func() error, 10_000), make([]error, 10_000)
	for i := range functions {
		wanted[i] = fmt.Errorf("function %d", i)
		functions[i] = func() error {
			if now := int64(runtime.NumGoroutine() - before); now > most.Load() {
				most.Store(now)
			}
			runtime.Gosched()
			return wanted[i]
		}
	}
	if err := Run(functions); err == nil || err.Error() != errors.Join(wanted...).Error() {
		t.Error("not all errors are returned in the order of the functions")
	}
	if n := most.Load(); n > 2*atOnce {
		t.Errorf("%d goroutines", n)
	}
}
