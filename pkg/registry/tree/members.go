package tree

import (
	"context"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Members returns the names of a namespace and its descendants, sorted; those that do not exist are left out. It is what the
// caches know, and fails with ServiceUnavailable before they do.
func (t *Tree) Members(ctx context.Context, name string) ([]string, error) {
	if t.Ready(nil) != nil {
		return nil, apierrors.NewServiceUnavailable("the tree has not been read yet; try again")
	}
	top, err := t.Namespace(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var names []string
	for _, node := range t.Subtree(top) {
		if node.Namespace != nil {
			names = append(names, node.Name)
		}
	}
	sort.Strings(names)
	return names, nil
}

// Root returns the root of the tree that a namespace is in, as far as the index knows.
func (t *Tree) Root(name string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	chain := t.forest.Chain(name)
	return chain[len(chain)-1]
}

// Changed returns a channel that is closed when an edge changes after this call.
func (t *Tree) Changed() <-chan struct{} {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.changed
}

// tell closes the channel that Changed has returned. The caller holds the lock.
func (t *Tree) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
}
