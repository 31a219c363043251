package treerules

import (
	"context"
	"slices"

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

// gap is why nothing comes to a namespace from one above it.
type gap string

const (
	gapMissing  gap = "does not exist"
	gapEnding   gap = "is being deleted"
	gapExcluded gap = "is excluded from trees"
)

// haltedAt returns the nearest namespace, from name upward, whose parent is one of the gaps, and which; "" if there is
// none.
func (s *snapshot) haltedAt(ctx context.Context, name string, gaps ...gap) (string, gap, error) {
	chain, err := s.ancestry(ctx, name)
	if err != nil {
		return "", "", err
	}
	for i, ancestor := range chain[1:] {
		why, err := s.gap(ctx, ancestor, ancestor == chain[len(chain)-1])
		if err != nil {
			return "", "", err
		}
		if slices.Contains(gaps, why) {
			return chain[i], why, nil
		}
	}
	return "", "", nil
}

// gap returns which gap a namespace is, "" for none. The edge of a namespace that is being deleted ends with its content,
// long before its tree labels do, so a root with the labels of a child is read from the cluster.
func (s *snapshot) gap(ctx context.Context, name string, root bool) (gap, error) {
	namespace, err := s.activeNamespace(ctx, name)
	if err == nil && namespace != nil && root && !s.readsLive() &&
		hnc.LabeledParent(name, namespace.Labels, hnc.AbstractAncestors(namespace.Annotations)) != "" {
		if _, err = s.live(ctx, name); err == nil {
			namespace, err = s.activeNamespace(ctx, name)
		}
	}
	if err != nil {
		return "", err
	}
	if namespace == nil {
		if exists, err := s.namespace(ctx, name); err != nil || exists == nil {
			return gapMissing, err
		}
		return gapEnding, nil
	}
	if why, err := s.excluded(ctx, name); err != nil || why == "" {
		return "", err
	}
	return gapExcluded, nil
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
