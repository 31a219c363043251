package subtree

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Tree knows which namespaces are below which.
type Tree interface {
	// Catch returns when Members knows all that was committed before the call.
	Catch(ctx context.Context) error
	// Members returns the names of the namespaces of a subtree that exist, sorted.
	Members(ctx context.Context, root string) ([]string, error)
	// Changed returns a channel that is closed when that may have changed.
	Changed() <-chan struct{}
}

// members knows which namespaces are in a subtree, and tells when that changes. The tree's own index is asked and not the
// namespaces' labels, which follow it: so a list made after a move is about the tree after the move.
type members struct {
	tree Tree

	mu      sync.Mutex
	changed chan struct{}
	// known holds what watches have asked for since the last change.
	known map[string][]string
}

// gather is how long changes are gathered, at least, before they are told.
const gather = 100 * time.Millisecond

func newMembers(tree Tree) *members {
	return &members{tree: tree, changed: make(chan struct{}), known: map[string][]string{}}
}

// subtree returns the names of a subtree's namespaces, sorted, as of now.
func (m *members) subtree(ctx context.Context, root string) ([]string, error) {
	if err := m.tree.Catch(ctx); err != nil {
		return nil, err
	}
	return m.tree.Members(ctx, root)
}

// regrouped returns the same for who was told of a change: many watches ask at once for the same. What has changed since, they
// will be told of.
func (m *members) regrouped(ctx context.Context, root string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if names, ok := m.known[root]; ok {
		return names, nil
	}
	names, err := m.tree.Members(ctx, root)
	if err == nil {
		m.known[root] = names
	}
	return names, err
}

// change returns a channel that is closed after the next change of any subtree.
func (m *members) change() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// comings returns a channel that holds something after a namespace has come or gone.
func comings(namespaces cache.SharedIndexInformer) (<-chan struct{}, error) {
	hint := make(chan struct{}, 1)
	tell := func() {
		select {
		case hint <- struct{}{}:
		default:
		}
	}
	_, err := namespaces.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { tell() },
		UpdateFunc: func(before, after any) {
			if before.(*corev1.Namespace).UID != after.(*corev1.Namespace).UID {
				tell()
			}
		},
		DeleteFunc: func(any) { tell() },
	})
	return hint, err
}

// run tells of changes until ctx is done; hint tells that a namespace has come or gone.
func (m *members) run(ctx context.Context, hint <-chan struct{}) {
	for {
		edges := m.tree.Changed()
		m.mu.Lock()
		close(m.changed)
		m.changed, m.known = make(chan struct{}), map[string][]string{}
		m.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		select {
		case <-ctx.Done():
			return
		case <-edges:
		case <-hint:
		}
	}
}
