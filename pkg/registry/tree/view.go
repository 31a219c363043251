package tree

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// view is what one judgement has seen of the tree. All edges that it has read are compared at commit.
type view struct {
	tree *Tree
	// fresh makes it read the store and the cluster instead of the caches.
	fresh bool

	edges      map[string]stored
	namespaces map[string]*corev1.Namespace
	// marks holds the revisions of the marks that are compared at commit.
	marks map[string]int64
}

func newView(t *Tree, fresh bool) *view {
	return &view{tree: t, fresh: fresh, edges: map[string]stored{}, namespaces: map[string]*corev1.Namespace{}, marks: map[string]int64{}}
}

type freshKey struct{}

// WithFreshReads returns a context in which judgements do not use the caches: for the second try of a request whose fence lost.
func WithFreshReads(ctx context.Context) context.Context {
	return context.WithValue(ctx, freshKey{}, true)
}

// judge applies a rule to the cached tree, and to the real one if the cached one refuses or is known to be stale: a
// stale replica never refuses what is legal.
func (t *Tree) judge(ctx context.Context, rule func(*view) (*fence.Guard, error)) (*fence.Guard, error) {
	if ctx.Value(freshKey{}) == nil {
		v := newView(t, false)
		guard, err := rule(v)
		if err == nil {
			return v.guarded(guard), nil
		}
	}
	v := newView(t, true)
	guard, err := rule(v)
	if err != nil {
		return nil, err
	}
	return v.guarded(guard), nil
}

// guarded adds to guard that all edges and marks seen must be unchanged.
func (v *view) guarded(guard *fence.Guard) *fence.Guard {
	if guard == nil {
		return nil
	}
	guard.Unchanged, guard.Unmarked = map[string]int64{}, v.marks
	for name, s := range v.edges {
		guard.Unchanged[name] = s.revision
	}
	return guard
}

// namespace returns a namespace, nil if there is none.
func (v *view) namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	if namespace, seen := v.namespaces[name]; seen {
		return namespace, nil
	}
	get := v.tree.Namespace
	if v.fresh {
		get = v.tree.LiveNamespace
	}
	namespace, err := get(ctx, name)
	if apierrors.IsNotFound(err) {
		namespace, err = nil, nil
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	v.namespaces[name] = namespace
	return namespace, nil
}

// edge returns name's edge without what is void: held by a record that is bound to an earlier namespace of that name.
func (v *view) edge(ctx context.Context, name string) (Edge, error) {
	s, seen := v.edges[name]
	if !seen {
		if err := v.read(ctx, name); err != nil {
			return Edge{}, err
		}
		s = v.edges[name]
	}
	e := s.Edge
	for _, holder := range []struct {
		uid       *types.UID
		namespace string
	}{{&e.Hierarchy, name}, {&e.Subnamespace, e.Parent}} {
		void, err := v.void(ctx, holder.namespace, *holder.uid)
		if err != nil {
			return Edge{}, err
		}
		if void {
			*holder.uid = ""
		}
	}
	if !e.held() {
		return Edge{}, nil
	}
	return e, nil
}

// void reports whether uid is that of an earlier namespace of that name, which never comes back. Only a read of the cluster that
// follows the read of the edge decides it, whether a cache or this view has not found the namespace before: the namespace may have
// been created in between, with the edge, and an edge that counts must never be overlooked.
func (v *view) void(ctx context.Context, name string, uid types.UID) (bool, error) {
	if uid == "" {
		return false, nil
	}
	namespace, err := v.namespace(ctx, name)
	switch {
	case err != nil:
		return false, err
	case namespace != nil && namespace.UID == uid:
		return false, nil
	}
	live, err := v.tree.LiveNamespace(ctx, name)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return live.UID != uid, nil
}

// read fills in name's edge and, in one round trip, those of the ancestors that the index expects.
func (v *view) read(ctx context.Context, name string) error {
	v.tree.mu.RLock()
	synced, cached, expected := v.tree.synced, v.tree.edges[name], v.tree.forest.Chain(name)
	v.tree.mu.RUnlock()
	if !synced {
		return apierrors.NewServiceUnavailable("the tree has not been read yet; try again")
	}
	if !v.fresh {
		v.edges[name] = cached
		return nil
	}
	names := slices.DeleteFunc(expected, func(name string) bool {
		_, seen := v.edges[name]
		return seen
	})
	entries, err := v.tree.Edges.Read(ctx, names[:min(len(names), maxReads)]...)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	for _, entry := range entries {
		if v.edges[entry.Name], err = decode(entry); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	return nil
}

// maxReads is how many edges are read in one transaction; etcd takes 128 operations.
const maxReads = 100

// chain returns name and its ancestors, the root last. The graph of edges has no cycles; should it have one
// nevertheless, the chain ends before the first repetition.
func (v *view) chain(ctx context.Context, name string) ([]string, error) {
	chain := []string{name}
	for {
		e, err := v.edge(ctx, chain[len(chain)-1])
		if err != nil {
			return nil, err
		}
		if e.Parent == "" || slices.Contains(chain, e.Parent) {
			return chain, nil
		}
		if chain = append(chain, e.Parent); len(chain) > 10*maxReads {
			return nil, apierrors.NewInternalError(errors.New("a chain of ancestors is too long to be judged"))
		}
	}
}
