package treerules

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// snapshot is the part of the tree that one evaluation has read. All edges in it are compared at commit.
type snapshot struct {
	index *Index
	// fresh makes it read the store and the cluster instead of the caches.
	fresh bool
	// cachedNamespaces makes it read namespaces from the cache nevertheless.
	cachedNamespaces bool

	edges      map[string]stored
	namespaces map[string]*corev1.Namespace
	// marks holds the revisions of the marks that are compared at commit.
	marks map[string]int64
	// marking holds the names of marks that get a new revision.
	marking []string
	// unused holds the names of missing namespaces without children, which cannot consume quota.
	unused map[string]bool
	// knownLimits are the limits that the evaluation has read, and whose revision is compared.
	knownLimits *limits.Limits
}

func newSnapshot(index *Index, fresh bool) *snapshot {
	return &snapshot{index: index, fresh: fresh, edges: map[string]stored{}, namespaces: map[string]*corev1.Namespace{}, marks: map[string]int64{},
		unused: map[string]bool{}}
}

type freshReadsKey struct{}

// WithFreshReads returns a context in which evaluations do not use the caches: for the retry of a request whose fence
// lost.
func WithFreshReads(ctx context.Context) context.Context {
	return context.WithValue(ctx, freshReadsKey{}, true)
}

// evaluate applies a rule to the cached tree. Rejections are revalidated with quorum reads, so that a stale replica
// never rejects a legal change.
func (i *Index) evaluate(ctx context.Context, rule func(*snapshot) (*fence.Guard, error)) (*fence.Guard, error) {
	if ctx.Value(freshReadsKey{}) == nil {
		s := newSnapshot(i, false)
		guard, err := s.guard(ctx, rule)
		if err == nil {
			return guard, nil
		}
	}
	return newSnapshot(i, true).guard(ctx, rule)
}

// guard applies a rule. The guard demands that all edges and marks that the rule has read are unchanged.
func (s *snapshot) guard(ctx context.Context, rule func(*snapshot) (*fence.Guard, error)) (*fence.Guard, error) {
	guard, err := rule(s)
	if err != nil || guard == nil {
		return nil, err
	}
	if err := s.invalidateUse(ctx, guard); err != nil {
		return nil, err
	}
	guard.Unchanged, guard.Unmarked, guard.Mark = map[string]int64{}, s.marks, append(guard.Mark, s.marking...)
	for name, e := range s.edges {
		guard.Unchanged[name] = e.revision
	}
	return guard, nil
}

// namespace returns a namespace, nil if there is none.
func (s *snapshot) namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	if namespace, known := s.namespaces[name]; known {
		return namespace, nil
	}
	if s.readsLive() {
		return s.live(ctx, name)
	}
	return s.add(ctx, name, s.index.Namespace)
}

// readsLive reports whether namespaces come from the cluster, and not from the cache.
func (s *snapshot) readsLive() bool { return s.fresh && !s.cachedNamespaces }

// live returns a namespace as it is in the cluster, nil if there is none.
func (s *snapshot) live(ctx context.Context, name string) (*corev1.Namespace, error) {
	return s.add(ctx, name, s.index.LiveNamespace)
}

// add reads a namespace.
func (s *snapshot) add(ctx context.Context, name string, get func(context.Context, string) (*corev1.Namespace, error)) (*corev1.Namespace, error) {
	namespace, err := get(ctx, name)
	if apierrors.IsNotFound(err) {
		namespace, err = nil, nil
	}
	if err != nil {
		return nil, internalerror.From(err)
	}
	s.namespaces[name] = namespace
	return namespace, nil
}

// activeNamespace returns a namespace that exists and is not being deleted, nil otherwise. A cache may still have an
// earlier namespace of that name, which is being deleted, unless it is the one whose Hierarchy holds the edge.
func (s *snapshot) activeNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace, err := s.namespace(ctx, name)
	if err == nil && namespace != nil && namespace.DeletionTimestamp != nil && !s.readsLive() && namespace.UID != s.edges[name].Hierarchy {
		namespace, err = s.live(ctx, name)
	}
	if err != nil || namespace == nil || namespace.DeletionTimestamp != nil {
		return nil, err
	}
	return namespace, nil
}

// excluded returns why a namespace is excluded from trees, "" if it is not. A namespace that does not exist is
// evaluated without labels, as a new sub-namespace would be.
func (s *snapshot) excluded(ctx context.Context, name string) (string, error) {
	rules := s.index.config.Rules()
	if why := rules.NameExcluded(name); why != "" {
		return why, nil
	}
	namespace, err := s.namespace(ctx, name)
	if err != nil {
		return "", err
	}
	if namespace == nil {
		return rules.Excluded(name, nil), nil
	}
	return rules.Excluded(name, namespace.Labels), nil
}

// edge returns the edge of a namespace without void holders: objects that are bound to an earlier namespace of that
// name.
func (s *snapshot) edge(ctx context.Context, name string) (edgeValue, error) {
	read, known := s.edges[name]
	if !known {
		if err := s.read(ctx, name); err != nil {
			return edgeValue{}, err
		}
		read = s.edges[name]
	}
	e := read.edgeValue
	for _, holder := range []struct {
		uid       *types.UID
		namespace string
	}{{&e.Hierarchy, name}, {&e.Subnamespace, e.Parent}} {
		void, err := s.isVoid(ctx, holder.namespace, *holder.uid)
		if err != nil {
			return edgeValue{}, err
		}
		if void {
			*holder.uid = ""
		}
	}
	if !e.held() {
		return edgeValue{}, nil
	}
	return e, nil
}

// isVoid reports whether a UID is that of an earlier namespace of that name, which never comes back. Only a read of the
// cluster that follows the read of the edge decides this. That a cache or this snapshot does not contain the namespace
// proves nothing: the namespace may have been created since, with its edge, and an effective edge must never be
// overlooked.
func (s *snapshot) isVoid(ctx context.Context, name string, uid types.UID) (bool, error) {
	if uid == "" {
		return false, nil
	}
	namespace, err := s.namespace(ctx, name)
	switch {
	case err != nil:
		return false, err
	case namespace != nil && namespace.UID == uid:
		return false, nil
	}
	live, err := s.index.LiveNamespace(ctx, name)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, internalerror.From(err)
	}
	return live.UID != uid, nil
}

// read adds the edge of a namespace and, in the same round trip, those of the ancestors that the index expects.
func (s *snapshot) read(ctx context.Context, name string) error {
	var expected []string
	s.index.mu.RLock()
	synced, cached := s.index.synced, s.index.edges[name]
	if s.fresh {
		expected = s.index.forest.Chain(name)
	}
	s.index.mu.RUnlock()
	if !synced {
		return apierrors.NewServiceUnavailable("the tree has not been read yet; try again")
	}
	if !s.fresh {
		s.edges[name] = cached
		return nil
	}
	names := slices.DeleteFunc(expected, func(name string) bool {
		_, known := s.edges[name]
		return known
	})
	entries, err := s.index.config.Edges.Read(ctx, names[:min(len(names), maxReads)]...)
	if err != nil {
		return internalerror.From(err)
	}
	for _, entry := range entries {
		if s.edges[entry.Name], err = decode(entry); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	return nil
}

// maxReads is the number of edges that are read in one transaction; etcd allows 128 operations.
const maxReads = 100

// Chain returns a namespace and its ancestors by their edges, whether these are effective or not, the root last. The
// graph of edges has no cycles; if it had one nevertheless, the chain would end before the first repetition.
func (s *snapshot) chain(ctx context.Context, name string) ([]string, error) {
	chain := []string{name}
	for {
		e, err := s.edge(ctx, chain[len(chain)-1])
		if err != nil {
			return nil, err
		}
		if e.Parent == "" || slices.Contains(chain, e.Parent) {
			return chain, nil
		}
		if chain = append(chain, e.Parent); len(chain) > 10*maxReads {
			return nil, apierrors.NewInternalError(errors.New("a chain of ancestors is too long to be evaluated"))
		}
	}
}
