package propagator

import (
	"context"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

const (
	// resyncPeriod is how often everything is evaluated again although nothing has changed. No decision depends on it:
	// it repairs what a fault that nobody has thought of leaves behind. Evaluating 100 000 copies takes half a second
	// of processor time.
	resyncPeriod = 10 * time.Minute
	// resyncHold is how long the cache is locked at a time, unless one namespace takes longer.
	resyncHold = 10 * time.Millisecond
)

// resync enqueues what diverges once in a while until the context ends.
func (m *Manager) resync(ctx context.Context) {
	ticker := time.NewTicker(m.resyncPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.enqueueDivergent(ctx)
		}
	}
}

// enqueueDivergent evaluates all namespaces, and enqueues those that diverge.
func (m *Manager) enqueueDivergent(ctx context.Context) {
	var names []string
	m.cache.Read(func(s *cache.State) { names = s.Tree.Names() })
	for len(names) > 0 && ctx.Err() == nil {
		m.cache.Read(func(s *cache.State) {
			for begun := time.Now(); len(names) > 0 && time.Since(begun) < resyncHold; {
				name := names[0]
				names = names[1:]
				for _, r := range m.reconcilers() {
					if s.Tree.Namespace(name) != nil && r.Diverges(s, name) {
						r.Enqueue(name)
					}
				}
			}
		})
	}
}
