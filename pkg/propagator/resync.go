package propagator

import (
	"context"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// resyncPeriod is how often everything is evaluated again although nothing has changed. No decision depends on it: it
// repairs what a fault that nobody has thought of leaves behind. Evaluating 100 000 copies takes half a second of
// processor time.
const resyncPeriod = 10 * time.Minute

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
		names = m.cache.ReadSome(names, func(s *cache.State) func(string) {
			return func(name string) {
				for _, r := range m.reconcilers() {
					if s.Tree.Namespace(name) != nil && r.Diverges(s, name) {
						r.Enqueue(name)
					}
				}
			}
		})
	}
}
