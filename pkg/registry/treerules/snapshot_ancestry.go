package treerules

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// effective reports whether an edge without void holders gives the existing namespace its parent. It reads the
// namespace from the cluster before it reports false.
func (s *snapshot) effective(ctx context.Context, name string, e edgeValue) (bool, error) {
	if !e.held() || e.Hierarchy != "" {
		return e.held(), nil
	}
	namespace, err := s.namespace(ctx, name)
	if err != nil || namespace == nil {
		return false, err
	}
	if gives := e.gives(namespace); gives || s.fresh {
		return gives, nil
	}
	return newSnapshot(s.index, true).effective(ctx, name, e)
}

// ancestry returns the chain of a namespace up to the first existing namespace whose edge is not effective: a
// Subnamespace that claims the name of another user's namespace grants no permissions on it. Cycles are checked on the
// whole chain.
func (s *snapshot) ancestry(ctx context.Context, name string) ([]string, error) {
	chain, err := s.chain(ctx, name)
	if err != nil {
		return nil, err
	}
	for i, at := range chain[:len(chain)-1] {
		e, err := s.edge(ctx, at)
		if err != nil {
			return nil, err
		}
		if effective, err := s.effective(ctx, at, e); err != nil {
			return nil, err
		} else if effective {
			continue
		}
		if exists, err := s.namespace(ctx, at); err != nil || exists != nil {
			return chain[:i+1], err
		}
	}
	return chain, nil
}

// haltedAncestor returns the nearest ancestor of a namespace whose parent does not exist, "" if there is none. The
// namespace's own parent does not matter: a namespace whose parent is missing may get another one.
func (s *snapshot) haltedAncestor(ctx context.Context, name string) (string, error) {
	chain, err := s.ancestry(ctx, name)
	if err != nil || len(chain) < 3 {
		return "", err
	}
	for i := 2; i < len(chain); i++ {
		namespace, err := s.namespace(ctx, chain[i])
		if err != nil {
			return "", err
		}
		if namespace == nil {
			return chain[i-1], nil
		}
	}
	return "", nil
}

// haltedAt returns the nearest namespace, from name upward, whose parent does not exist, is being deleted or is
// excluded from trees, "" if there is none. Nothing is propagated from above it.
func (s *snapshot) haltedAt(ctx context.Context, name string) (string, error) {
	chain, err := s.ancestry(ctx, name)
	if err != nil {
		return "", err
	}
	for i, ancestor := range chain[1:] {
		active, err := s.activeNamespace(ctx, ancestor)
		if err != nil {
			return "", err
		}
		why, err := s.excluded(ctx, ancestor)
		if err != nil {
			return "", err
		}
		if active == nil || why != "" {
			return chain[i], nil
		}
	}
	return "", nil
}

// deletedOf returns the parent that a chain begins with or the namespace that it ends with, if that is being deleted, ""
// otherwise. The edge of such a namespace ends with its content, long before its tree labels do: the chain ends there,
// while the propagator still counts what is below to the whole tree, so nothing may join it. A cache may not contain the
// deletion yet.
func (s *snapshot) deletedOf(ctx context.Context, chain []string) (string, error) {
	last := len(chain) - 1
	for _, at := range []string{chain[0], chain[last]} {
		namespace, err := s.namespace(ctx, at)
		if err == nil && namespace != nil && at == chain[last] && !s.readsLive() &&
			hnc.LabeledParent(at, namespace.Labels, hnc.AbstractAncestors(namespace.Annotations)) != "" {
			namespace, err = s.live(ctx, at)
		}
		if err != nil {
			return "", err
		}
		if namespace != nil && namespace.DeletionTimestamp != nil {
			return at, nil
		}
	}
	return "", nil
}

// isSubnamespace reports whether a namespace is a sub-namespace of a parent that contains a Subnamespace of its name:
// its annotation says so, or did when the propagator wrote the tree labels. Removing or changing the annotation does
// not take a namespace out of its tree. A namespace with abstract ancestors above it has no parent, whatever its
// annotation says: the annotation must not take it out of their policies.
func isSubnamespace(namespace *corev1.Namespace, parent string) bool {
	switch {
	case managedkeys.External(namespace.Annotations), hnc.HasAbstractParent(namespace.Labels, hnc.AbstractAncestors(namespace.Annotations)):
		return false
	case managedkeys.SubnamespaceOf(namespace.Annotations) == parent:
		return true
	}
	return hnc.IsLabeledChild(namespace.Labels, hnc.AbstractAncestors(namespace.Annotations), parent)
}
