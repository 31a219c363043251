package propagator

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// A namespace with many copies is written in turns, and its back-off must not begin again with each of them.
func TestUnfinishedWorkHasItsNextTurnAfterOtherTrees(t *testing.T) {
	m := &Manager{urgent: queue.New(nil, nil), bulk: queue.New(nil, nil)}
	big, small := queue.Key{Class: queue.Destination, Namespace: "big"}, queue.Key{Class: queue.Destination, Namespace: "small"}
	for range 3 {
		m.bulk.AddRateLimited(big)
	}
	var order []string
	ctx, end := context.WithCancel(t.Context())
	m.reconcileClass = map[queue.Class]func(context.Context, queue.Key) error{queue.Destination: func(_ context.Context, key queue.Key) error {
		order = append(order, key.Namespace)
		switch {
		case len(order) == 4:
			end()
			m.bulk.ShutDown()
		case key == big:
			return outcome.ErrUnfinished
		}
		return errors.New("failed")
	}}
	for _, key := range []queue.Key{big, small} {
		m.bulk.Add(key)
	}
	m.work(ctx, t.Context(), m.bulk)
	if !slices.Equal(order[:3], []string{"big", "small", "big"}) || m.bulk.NumRequeues(big) != 3 {
		t.Errorf("got %q, requeued %d times", order, m.bulk.NumRequeues(big))
	}
}

// What waits is enqueued by what it waits for, and failures before and after that have one back-off.
func TestWorkThatWaitsIsNotRepeated(t *testing.T) {
	m := &Manager{urgent: queue.New(nil, nil), bulk: queue.New(nil, nil)}
	key := queue.Key{Class: queue.Destination, Namespace: "big"}
	for range 3 {
		m.bulk.AddRateLimited(key)
	}
	tries := 0
	m.reconcileClass = map[queue.Class]func(context.Context, queue.Key) error{queue.Destination: func(context.Context, queue.Key) error {
		tries++
		m.bulk.ShutDown()
		return outcome.ErrWaiting
	}}
	m.bulk.Add(key)
	m.work(t.Context(), t.Context(), m.bulk)
	if tries != 1 || m.bulk.NumRequeues(key) != 3 {
		t.Errorf("it is tried %d times, requeued %d times", tries, m.bulk.NumRequeues(key))
	}
}
