// Package tree judges changes of the tree of namespaces. Its rules are checked on an index of all edges that may be
// stale, and stay true because a write commits only if the very edges that were looked at are unchanged
// (pkg/storage/fence). Lemma: a commit that gives N the parent P verifies every edge from P to its root, and that N is
// not among them; so it keeps an acyclic graph acyclic, whatever other commits do.
package tree

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Edges is where the edges are stored.
type Edges interface {
	// Read returns the named edges as they are now.
	Read(ctx context.Context, names ...string) ([]fence.Entry, error)
	// Mark returns the revision at which a namespace last got the named one as its parent, 0 if none ever did.
	Mark(ctx context.Context, name string) (int64, error)
	// Feed tells all edges, then each change, until ctx is done.
	Feed(ctx context.Context, replace func([]fence.Entry), update func(fence.Entry))
	// Catch returns when Feed has told everything that was committed before the call.
	Catch(ctx context.Context) error
}

// Hierarchies returns the Hierarchy of a namespace, or a NotFound error.
type Hierarchies func(ctx context.Context, namespace string) (*hnc.Hierarchy, error)

// Config is what a Tree needs.
type Config struct {
	// Edges is where the edges are stored.
	Edges Edges
	// Namespaces are the cluster's namespaces, possibly stale.
	Namespaces corelisters.NamespaceLister
	// Client reads namespaces as they are now.
	Client kubernetes.Interface
	// Authorizer says who may do what in the cluster.
	Authorizer authorizer.Authorizer
	// Rules say which namespaces can't be part of a tree, and what their hierarchies can set on them.
	Rules managed.Rules
	// Sources knows what a change would overwrite; nil if nobody does.
	Sources Sources
	// SubnamespaceNames returns the cluster's rule for the names of new sub-namespaces, nil if there is none. It is called for each new name
	// and must not answer from a cache: the rule holds as soon as it is written. Nil allows all names.
	SubnamespaceNames func(context.Context) (*hnc.SubnamespaceNames, error)
}

// Tree judges changes of the tree. It is safe for concurrent use.
type Tree struct {
	Config

	mu     sync.RWMutex
	edges  map[string]stored
	forest *forest.Forest
	synced bool
	// changed is closed, and replaced, whenever an edge changes.
	changed chan struct{}
}

// New returns a Tree that knows no edges until Run feeds it.
func New(config Config) *Tree {
	return &Tree{Config: config, edges: map[string]stored{}, forest: forest.New(nil), changed: make(chan struct{})}
}

// Run keeps the index of edges up to date until ctx is done.
func (t *Tree) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	t.Edges.Feed(ctx, func(entries []fence.Entry) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.edges, t.forest = map[string]stored{}, forest.New(nil)
		for _, entry := range entries {
			t.set(logger, entry)
		}
		t.synced = true
		t.tell()
		edges.Set(float64(len(t.edges)))
		logger.V(2).Info("Tree synced", "edges", len(t.edges))
	}, func(entry fence.Entry) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.set(logger, entry)
		t.tell()
		edges.Set(float64(len(t.edges)))
	})
}

func (t *Tree) set(logger klog.Logger, entry fence.Entry) {
	s, err := decode(entry)
	if err != nil {
		// Without the edge a stale view is refused at commit; the judgement is then made on the store's own answer.
		logger.Error(err, "Ignoring an edge")
	}
	if s.revision == 0 {
		delete(t.edges, entry.Name)
	} else {
		t.edges[entry.Name] = s
	}
	t.forest.SetParent(entry.Name, s.Parent)
}

// Ready is the tree's health check: nil once the index has been read.
func (t *Tree) Ready(*http.Request) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if !t.synced {
		return errors.New("the tree has not been read yet")
	}
	return nil
}

// maxCatch bounds how long a read waits for the index.
const maxCatch = 3 * time.Second

// Catch returns when the index knows everything that was committed before the call.
func (t *Tree) Catch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxCatch)
	defer cancel()
	if err := t.Edges.Catch(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "The tree can't be read as it is now")
		return apierrors.NewTimeoutError("the server does not know the present tree yet; try again", 1)
	}
	return nil
}

// Children returns the names of the namespaces below name, as far as the index knows.
func (t *Tree) Children(name string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.forest.Children(name)
}

// Namespace returns a namespace, from the cluster itself if the cache doesn't hold it. It fails with NotFound if there
// is none.
func (t *Tree) Namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace, err := t.Namespaces.Get(name)
	if apierrors.IsNotFound(err) {
		return t.LiveNamespace(ctx, name)
	}
	return namespace, err
}

// LiveNamespace returns a namespace from the cluster itself. It fails with NotFound if there is none.
func (t *Tree) LiveNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	return t.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
}
