package propagator

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

func TestWhatDivergesWithoutAnEventIsEnqueued(t *testing.T) {
	m := newManager(t)
	missing := sets.New[queue.Key]()
	for _, namespace := range []string{"root", "left", "right"} {
		missing.Insert(queue.Key{Class: queue.Namespace, Namespace: namespace}, queue.Key{Class: queue.Status, Namespace: namespace})
		if namespace != "root" {
			missing.Insert(queue.Key{Class: queue.Destination, Namespace: namespace})
		}
	}
	all := missing.Clone()
	m.enqueueDivergent(t.Context())
	for missing.Len() > 0 {
		key, _ := m.bulk.Get() // waits for those that are added later
		m.bulk.Done(key)
		missing.Delete(key)
	}
	m.cache.Update(m.reconcileCache)
	m.enqueueDivergent(t.Context())
	for m.bulk.Len() > 0 {
		key, _ := m.bulk.Get()
		m.bulk.Done(key)
		if all.Has(key) {
			t.Errorf("%v is enqueued although it does not diverge", key)
		}
	}
}

func TestALeaderRepairsWhatNoEventHasAnnounced(t *testing.T) {
	m := newManager(t)
	m.resyncPeriod = 10 * time.Millisecond
	evaluated := make(chan struct{})
	for class := range m.reconcileClass {
		m.reconcileClass[class] = func(_ context.Context, key queue.Key) error {
			if key == (queue.Key{Class: queue.Status, Namespace: "left"}) {
				evaluated <- struct{}{}
			}
			return nil
		}
	}
	leading, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		m.Lead(leading)
	}()
	// Nothing is written, so that it diverges forever, and there is no event. The start enqueues it once.
	for range 5 {
		select {
		case <-evaluated:
		case <-time.After(30 * time.Second):
			t.Fatal("what diverges is not evaluated again")
		}
	}
	stop()
	for {
		select {
		case <-evaluated:
		case <-stopped:
			return
		}
	}
}
