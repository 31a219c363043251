package subtree

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Tree is the index of the trees.
type Tree interface {
	// WaitUntilFresh returns once Members includes everything committed before the call.
	WaitUntilFresh(ctx context.Context) error
	// Members returns the names of the existing namespaces of a subtree, sorted.
	Members(ctx context.Context, root string) ([]string, error)
	// Changed returns a channel that is closed at the next change.
	Changed() <-chan struct{}
}

// members returns the namespaces of a subtree and reports changes. It reads the index of edges instead of the tree
// labels, which lag behind: a list made after a move reflects the move.
type members struct {
	tree Tree

	mu      sync.Mutex
	changed chan struct{}
	// cached holds the subtrees that watches have requested since the last change.
	cached map[string][]string
}

// membersDebounce is the minimum interval of change notifications.
const membersDebounce = 100 * time.Millisecond

func newMembers(tree Tree) *members {
	return &members{tree: tree, changed: make(chan struct{}), cached: map[string][]string{}}
}

// subtree returns the current names of a subtree's namespaces, sorted.
func (m *members) subtree(ctx context.Context, root string) ([]string, error) {
	if err := m.tree.WaitUntilFresh(ctx); err != nil {
		return nil, err
	}
	return m.tree.Members(ctx, root)
}

// cachedSubtree returns the same names, cached since the last notification: many watches request one subtree at once.
// A later change has its own notification.
func (m *members) cachedSubtree(ctx context.Context, root string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if names, ok := m.cached[root]; ok {
		return names, nil
	}
	names, err := m.tree.Members(ctx, root)
	if err == nil {
		m.cached[root] = names
	}
	return names, err
}

// changes returns a channel that is closed after the next change of any subtree.
func (m *members) changes() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// namespaceEvents returns a channel that is signaled when a namespace is created or deleted.
func namespaceEvents(namespaces cache.SharedIndexInformer) (<-chan struct{}, error) {
	hint := make(chan struct{}, 1)
	notify := func() {
		select {
		case hint <- struct{}{}:
		default:
		}
	}
	_, err := namespaces.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { notify() },
		UpdateFunc: func(before, after any) {
			if before.(*corev1.Namespace).UID != after.(*corev1.Namespace).UID {
				notify()
			}
		},
		DeleteFunc: func(any) { notify() },
	})
	return hint, err
}

// run notifies watches of changes until ctx is done; hint is signaled when a namespace is created or deleted.
func (m *members) run(ctx context.Context, hint <-chan struct{}) {
	for {
		edges := m.tree.Changed()
		m.mu.Lock()
		close(m.changed)
		m.changed, m.cached = make(chan struct{}), map[string][]string{}
		m.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(membersDebounce):
		}
		select {
		case <-ctx.Done():
			return
		case <-edges:
		case <-hint:
		}
	}
}
