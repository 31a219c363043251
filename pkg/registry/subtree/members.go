package subtree

import (
	"context"
	"maps"
	"slices"
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
	// Root returns the root of the tree that contains a namespace.
	Root(name string) string
	// Changed returns a channel that is closed at the next change.
	Changed() <-chan struct{}
}

// members returns the namespaces of a subtree and reports changes. It reads the index of edges instead of the tree
// labels, which lag behind: a list made after a move reflects the move.
type members struct {
	tree Tree

	mu      sync.Mutex
	changed chan struct{}
	// cached holds the subtrees that watches have requested since the change before the last one.
	cached map[string]*membership
	// change is the number of the last change.
	change int
}

// membership holds the names of a subtree's namespaces, sorted. It is replaced when they change.
type membership struct {
	names []string
	// change is the number of the last change after which they were read.
	change int
}

// membersDebounce is the minimum interval of change notifications.
const membersDebounce = 100 * time.Millisecond

func newMembers(tree Tree) *members {
	return &members{tree: tree, changed: make(chan struct{}), cached: map[string]*membership{}}
}

// subtree returns the current names of a subtree's namespaces, sorted.
func (m *members) subtree(ctx context.Context, root string) ([]string, error) {
	if err := m.tree.WaitUntilFresh(ctx); err != nil {
		return nil, err
	}
	return m.tree.Members(ctx, root)
}

// cachedSubtree returns the same names, cached since the last notification: many watches request one subtree at once.
// A later change has its own notification. The result is identical to the previous one if the names have not changed.
func (m *members) cachedSubtree(ctx context.Context, root string) (*membership, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.cached[root]
	if known != nil && known.change == m.change {
		return known, nil
	}
	names, err := m.tree.Members(ctx, root)
	if err != nil {
		return nil, err
	}
	if known == nil || !slices.Equal(known.names, names) {
		known = &membership{names: names}
		m.cached[root] = known
	}
	known.change = m.change
	return known, nil
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
		m.notify()
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

// notify notifies watches of a change, and forgets the subtrees that none has requested since the previous one.
func (m *members) notify() {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.cached, func(_ string, known *membership) bool { return known.change != m.change })
	m.change++
	close(m.changed)
	m.changed = make(chan struct{})
}
