package treerules

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Index holds all edges in memory. It follows the store by a watch and may be stale.
type Index struct {
	config *Config

	mu     sync.RWMutex
	edges  map[string]stored
	forest *forest.Forest
	synced bool
	// changed is closed, and replaced, whenever an edge changes.
	changed chan struct{}
}

func newIndex(config *Config) *Index {
	return &Index{config: config, edges: map[string]stored{}, forest: forest.New(nil), changed: make(chan struct{})}
}

// Run keeps the index up to date until ctx is done.
func (i *Index) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	i.config.Edges.ListAndWatch(ctx, func(entries []fence.Entry) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.edges, i.forest = map[string]stored{}, forest.New(nil)
		for _, entry := range entries {
			i.set(logger, entry)
		}
		i.synced = true
		i.notify()
		edges.Set(float64(len(i.edges)))
		logger.V(2).Info("Tree synced", "edges", len(i.edges))
	}, func(entry fence.Entry) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.set(logger, entry)
		i.notify()
		edges.Set(float64(len(i.edges)))
	})
}

// set stores an edge. The caller holds the lock.
func (i *Index) set(logger klog.Logger, entry fence.Entry) {
	s, err := decode(entry)
	if err != nil {
		// Without the edge, a write that depends on it loses its fence, and is evaluated again on the store's own
		// answer.
		logger.Error(err, "Ignoring an edge that cannot be decoded")
	}
	if s.revision == 0 {
		delete(i.edges, entry.Name)
	} else {
		i.edges[entry.Name] = s
	}
	i.forest.SetParent(entry.Name, s.Parent)
}

// notify closes the channel that Changed has returned. The caller holds the lock.
func (i *Index) notify() {
	close(i.changed)
	i.changed = make(chan struct{})
}

// Changed returns a channel that is closed when an edge changes after this call.
func (i *Index) Changed() <-chan struct{} {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.changed
}

// Ready is a health check. It returns nil once the index is synced.
func (i *Index) Ready(*http.Request) error {
	i.mu.RLock()
	defer i.mu.RUnlock()
	if !i.synced {
		return errors.New("the tree has not been read yet")
	}
	return nil
}

// maxFreshnessWait bounds how long a read waits for the index.
const maxFreshnessWait = 3 * time.Second

// WaitUntilFresh returns when the index contains everything that was committed before the call.
func (i *Index) WaitUntilFresh(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, maxFreshnessWait)
	defer cancel()
	if err := i.config.Edges.WaitUntilFresh(wait); err != nil {
		if ctx.Err() == nil { // the client still waits
			klog.FromContext(ctx).Error(err, "The index of the tree is not fresh in time")
		}
		return apierrors.NewTimeoutError("the server does not know the present tree yet; try again", 1)
	}
	return nil
}

// Children returns the names of the children of a namespace by their edges, whether these are effective or not.
func (i *Index) Children(name string) []string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.forest.Children(name)
}

// Root returns the root of the tree that contains a namespace.
func (i *Index) Root(name string) string {
	chain := i.Chain(name)
	return chain[len(chain)-1]
}

// Chain returns a namespace and its ancestors by their edges, whether these are effective or not, the root last.
func (i *Index) Chain(name string) []string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.forest.Chain(name)
}

// Below returns the number of namespaces below a namespace by the edges.
func (i *Index) Below(name string) (n int) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	i.forest.Walk(name, func(_ string, depth int) bool {
		n += min(depth, 1)
		return true
	})
	return n
}

// Descendants returns the names of the namespaces below a namespace by their edges, whether these are effective or not.
func (i *Index) Descendants(name string) []string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.forest.Descendants(name)
}

// height returns the number of levels below a namespace by the edges.
func (i *Index) height(name string) int {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.forest.Height(name)
}

// Namespace returns a namespace, from the cluster if the cache does not contain it. It fails with NotFound if there is
// none.
func (i *Index) Namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace, err := i.config.Namespaces.Get(name)
	if apierrors.IsNotFound(err) {
		return i.LiveNamespace(ctx, name)
	}
	return namespace, err
}

// LiveNamespace returns a namespace from the cluster. It fails with NotFound if there is none.
func (i *Index) LiveNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	return i.config.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
}

// IsActive reports whether a namespace exists in the cluster now and is not being deleted.
func (i *Index) IsActive(ctx context.Context, name string) (bool, error) {
	namespace, err := newSnapshot(i, true).activeNamespace(ctx, name)
	return namespace != nil, err
}
