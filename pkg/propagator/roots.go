package propagator

import (
	"sync"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// roots knows the root above each namespace. It has a lock of its own, under which nobody waits for another: queues ask for roots while they are
// locked, and are used with the propagator's lock held as well as without it.
type roots struct {
	mu sync.RWMutex
	// above has no namespace that is a root itself.
	above map[string]string
}

// of returns the root of the namespace's tree.
func (r *roots) of(namespace string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if root, ok := r.above[namespace]; ok {
		return root
	}
	return namespace
}

// moved enters the roots of namespaces that may have others than before.
func (r *roots) moved(t *tree.Tree, namespaces []string) {
	if len(namespaces) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range namespaces {
		chain := t.Chain(name)
		if root := chain[len(chain)-1]; root != name {
			r.above[name] = root
		} else {
			delete(r.above, name)
		}
	}
}
