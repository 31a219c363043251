package cache

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client"
)

// Config is what a Cache reads the cluster with.
type Config struct {
	Kubernetes kubernetes.Interface
	Hierarchy  versioned.Interface
	// Metadata watches CustomResourceDefinitions and APIServices, which announce new kinds.
	Metadata metadata.Interface
	// Reader reads the propagated kinds that it can, Dynamic all others. Reader may be nil.
	Reader  *client.Reader
	Dynamic dynamic.Interface
	// CopyRules say what copies leave out.
	CopyRules *copies.Rules
	// Managed says which namespaces take part in hierarchies, and which of their labels and annotations are managed.
	Managed managedkeys.Rules
	// InheritPodSecurity gives sub-namespaces the Pod Security labels of their parents.
	InheritPodSecurity bool
	// CheckStore returns an error unless the API server still has the store of hierarchies that the cache reflects, and
	// the version of that store, "" if it is not known. It precedes each list and watch of our own resources.
	// CheckCluster does the same for namespaces.
	CheckStore, CheckCluster func(context.Context) (resourceVersion string, err error)
}

// Cache is the cluster as the propagator sees it. Its methods are safe for concurrent use.
type Cache struct {
	Config
	readiness *readiness
	// guard is for what hns-apiserver stores, clusterGuard for namespaces.
	guard, clusterGuard guard
	roots               *roots
	// unlisted counts the first lists that the first write waits for; unconfigured those that the first resolution of
	// kinds waits for.
	unlisted, unconfigured sync.WaitGroup
	// kindsApplied is called when the configured kinds are watched for the first time.
	kindsApplied func()

	mu    sync.RWMutex
	state *State
}

// New returns an empty Cache.
func New(config Config) *Cache {
	c := &Cache{Config: config, readiness: newReadiness(), roots: newRoots(), kindsApplied: func() {}}
	c.guard, c.clusterGuard = guard{check: config.CheckStore, readiness: c.readiness}, guard{check: config.CheckCluster, readiness: c.readiness}
	c.state = newState(tree.New(config.Managed), c.roots)
	if config.InheritPodSecurity {
		c.state.Tree.InheritPodSecurity()
	}
	return c
}

// Read calls f with the state, which f must not change or keep.
func (c *Cache) Read(f func(*State)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f(c.state)
}

// hold is how long ReadSome locks the cache, unless one name takes longer.
const hold = 10 * time.Millisecond

// ReadSome locks the state, calls visit once, and calls the function that it returns for each name until hold has
// passed. It returns the remaining names.
func (c *Cache) ReadSome(names []string, visit func(*State) func(name string)) (left []string) {
	c.Read(func(s *State) {
		f := visit(s)
		for begun := time.Now(); len(names) > 0 && time.Since(begun) < hold; names = names[1:] {
			f(names[0])
		}
	})
	return names
}

// Update calls f with the state, which f may change but not keep.
func (c *Cache) Update(f func(*State)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.state)
}

// Root returns the root of the tree that the namespace is in. It can be called with the state locked.
func (c *Cache) Root(namespace string) string { return c.roots.of(namespace) }

// WaitForSync waits for the first lists of everything that decisions are based on: a late list must not look like an
// empty one. Configured kinds that can't be read are not waited for. It returns an error when the context ends first.
func (c *Cache) WaitForSync(ctx context.Context) error { return waitFor(ctx, &c.unlisted) }

// WaitForConfiguration waits for the first lists of the namespaces, hierarchies and the configuration, which name the
// kinds to watch.
func (c *Cache) WaitForConfiguration(ctx context.Context) error { return waitFor(ctx, &c.unconfigured) }

func waitFor(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// observe calls enter with the result of our own write at a version, unless the watch of the resource is past it.
func (c *Cache) observe(resource, version string, enter func(*State)) {
	c.Update(func(s *State) {
		if s.versions.ahead(resource, version) {
			enter(s)
		}
	})
}

// ObserveNamespace enters the result of our own write, unless the watch is past it.
func (c *Cache) ObserveNamespace(ns *corev1.Namespace) {
	c.observe(namespaces, ns.ResourceVersion, func(s *State) { s.setNamespace(tree.NewNamespace(ns)) })
}

// ObserveHierarchy does the same as ObserveNamespace.
func (c *Cache) ObserveHierarchy(h *v1beta1.Hierarchy) {
	c.observe(hierarchies, h.ResourceVersion, func(s *State) { s.affect(s.Tree.SetHierarchy(tree.NewHierarchy(h))) })
}

// ObserveSubnamespace does the same as ObserveNamespace.
func (c *Cache) ObserveSubnamespace(sub *v1beta1.Subnamespace) {
	c.observe(subnamespaces, sub.ResourceVersion, func(s *State) { s.affect(s.Tree.SetSubnamespace(tree.NewSubnamespace(sub))) })
}

// ObserveConfiguration does the same as ObserveNamespace.
func (c *Cache) ObserveConfiguration(config *v1beta1.HNCConfiguration) {
	c.observe(configurations, config.ResourceVersion, func(s *State) { s.setConfiguration(config) })
}
