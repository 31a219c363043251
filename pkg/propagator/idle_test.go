package propagator

import (
	"context"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

func TestTheStatusOfTheConfigurationKeepsNobodyWaiting(t *testing.T) {
	for class, idle := range map[queue.Class]bool{queue.Configuration: true, queue.Status: false, queue.Copy: false} {
		m := &Manager{urgent: queue.New(nil, nil), bulk: queue.New(nil, nil)}
		m.leading.Store(true)
		m.reconcileClass = map[queue.Class]func(context.Context, queue.Key) error{class: func(context.Context, queue.Key) error { return nil }}
		m.bulk.Add(queue.Key{Class: class})
		m.bulk.ShutDown()
		m.work(t.Context(), t.Context(), m.bulk)
		r := &Runner{changed: make(chan struct{})}
		r.set(m)
		if got := r.Idle(time.Hour); got != idle {
			t.Errorf("idle after %s: %t", class, got)
		}
	}
}

func TestAManagerIsNotIdleWhenItHasJustStarted(t *testing.T) {
	m := newManager(t)
	r := &Runner{changed: make(chan struct{})}
	r.set(m)
	m.start()
	// This drains the queues, and reconciles nothing.
	ended, end := context.WithCancel(t.Context())
	end()
	for _, q := range []queue.Queue{m.urgent, m.bulk} {
		q.ShutDown()
		m.work(ended, ended, q)
	}
	if r.Idle(time.Hour) {
		t.Error("idle before anything was done")
	}
	if !r.Idle(0) {
		t.Error("the start does not end")
	}
}
