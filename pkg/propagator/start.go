package propagator

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/quota"
)

// reconciler is a controller that finds the namespaces that diverge from what it has to write.
type reconciler interface {
	Diverges(s *cache.State, namespace string) bool
	Enqueue(namespace string)
}

// reconcilers are the controllers that write for each namespace.
func (m *Manager) reconcilers() []reconciler {
	return []reconciler{m.namespaces, m.hierarchies, m.copies}
}

// start begins to lead. It evaluates everything once and enqueues only what diverges: after a restart that is next to
// nothing, and a change in the meantime does not wait behind everything that is right.
func (m *Manager) start() {
	// It is busy until everything is enqueued, and that counts as work.
	m.busy.Add(1)
	defer func() {
		m.worked.Store(time.Now().UnixNano())
		m.busy.Add(-1)
	}()
	m.cache.Update(func(s *cache.State) {
		for _, handlers := range []cache.EventHandlers{
			m.copies.Handlers(), m.namespaces.Handlers(), m.hierarchies.Handlers(), m.subnamespaces.Handlers(), m.configuration.Handlers(), m.releases.Handlers(), m.views.Handlers(), m.definitions.Handlers(),
			m.quotas.Handlers(), m.restore.Handlers(),
		} {
			s.AddEventHandlers(handlers)
		}
		m.leading.Store(true)
		for _, r := range m.reconcilers() {
			for _, namespace := range divergent(s, r.Diverges) {
				r.Enqueue(namespace)
			}
		}
		m.subnamespaces.Start(s)
		m.copies.Start(s)
		m.quotas.Start(s)
		m.configuration.Enqueue()
		m.views.Start()
		m.definitions.Start()
		m.Metrics.Namespaces(s.Tree.Len())
	})
}

// differs reports whether anything would be written to namespaces, copies or ResourceQuotas, or any would be created or
// deleted. What can't be read now may differ.
func (m *Manager) differs() bool {
	differs := m.cache.Watching() != nil
	m.cache.Read(func(s *cache.State) {
		differs = differs || slices.ContainsFunc(s.Kinds(), func(k *cache.Kind) bool { return k.Watched() && !k.Synced }) || quota.Differs(m.quotas, s)
		differs = differs || len(divergent(s, m.namespaces.Differs)) > 0 || len(divergent(s, m.copies.Differs)) > 0 || m.subnamespaces.Differs(s)
	})
	return differs
}

// divergent returns the namespaces that diverge. The cache is locked, so all processors evaluate.
func divergent(s *cache.State, diverges func(*cache.State, string) bool) []string {
	names := s.Tree.Names()
	found := make([][]string, runtime.GOMAXPROCS(0))
	var evaluating sync.WaitGroup
	for i := range found {
		evaluating.Go(func() {
			for at := i; at < len(names); at += len(found) {
				if diverges(s, names[at]) {
					found[i] = append(found[i], names[at])
				}
			}
		})
	}
	evaluating.Wait()
	return slices.Concat(found...)
}
