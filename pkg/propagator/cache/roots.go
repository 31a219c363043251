package cache

import (
	"sync"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// roots knows the root above each namespace. It has a lock of its own, with which nothing else is locked: work queues
// ask for roots while they are locked themselves, and are used with and without the state locked.
type roots struct {
	mu sync.RWMutex
	// above has no namespace that is a root itself.
	above map[string]string
}

func newRoots() *roots { return &roots{above: map[string]string{}} }

// of returns the root of the namespace's tree.
func (r *roots) of(namespace string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if root, ok := r.above[namespace]; ok {
		return root
	}
	return namespace
}

// update looks up the roots of namespaces that may have changed.
func (r *roots) update(t *tree.Tree, namespaces []string) {
	if len(namespaces) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range namespaces {
		if root := t.Root(name); root != name {
			r.above[name] = root
		} else {
			delete(r.above, name)
		}
	}
}
