package fence

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// The generic API server does not stop the watch of a request that it rejects after the watch has begun.
func TestAWatchThatIsNotStoppedEndsWithItsRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	inner := watch.NewFake()
	w := withFirst(ctx, inner, watch.Event{Type: watch.Added})
	if first := <-w.ResultChan(); first.Type != watch.Added {
		t.Errorf("got %v first", first)
	}
	cancel()
	select {
	case _, open := <-w.ResultChan():
		if open {
			t.Error("an event after the end")
		}
	case <-time.After(time.Minute):
		t.Fatal("the watch did not end")
	}
	if _, open := <-inner.ResultChan(); open {
		t.Error("the inner watch was not stopped")
	}
}
