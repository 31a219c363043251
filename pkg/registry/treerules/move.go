package treerules

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Moves validates and authorizes the parents that Hierarchies set.
type Moves struct {
	index      *Index
	authorizer *Authorizer
	overwrites *Overwrites
}

// Validate validates that the Hierarchy of a namespace sets a parent; an empty one makes the namespace a root. It
// returns the fence of the write, or a Forbidden, Conflict or Invalid error that names what to do (docs/spec/hnc.md
// 2.4).
func (m *Moves) Validate(ctx context.Context, namespace *corev1.Namespace, parent string) (*fence.Guard, error) {
	return m.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		guard, _, err := m.validate(ctx, s, namespace, parent)
		return guard, err
	})
}

// Preview returns the error with which Validate rejects the move. It reports whether the move is legal and authorized:
// then the only error left is about quotas that it would exceed, or objects that it would overwrite.
func (m *Moves) Preview(ctx context.Context, namespace *corev1.Namespace, parent string) (possible bool, err error) {
	_, err = m.index.evaluate(ctx, func(s *snapshot) (_ *fence.Guard, err error) {
		_, possible, err = m.validate(ctx, s, namespace, parent)
		return nil, err
	})
	return possible, err
}

// validate does both on a snapshot.
func (m *Moves) validate(ctx context.Context, s *snapshot, namespace *corev1.Namespace, parent string) (guard *fence.Guard, possible bool, err error) {
	reject := newRejection(ctx, hnc.Singleton)
	move, err := m.validateStructure(ctx, s, reject, namespace, parent)
	if err != nil || move.current == parent {
		return move.guard, err == nil, err
	}
	if err := m.authorizer.authorizeMove(ctx, s, reject, namespace.Name, move.current, move.chain); err != nil {
		return nil, false, err
	}
	if err := m.authorizeNames(ctx, s, reject, namespace, move); err != nil {
		return nil, false, err
	}
	if err := m.validateUse(ctx, s, reject, namespace, move); err != nil {
		return nil, true, err
	}
	return move.guard, true, m.overwrites.validateMove(ctx, reject, "spec.parent", namespace, move.chain)
}

// ValidateUnchanged validates a change of a Hierarchy that keeps the parent (docs/spec/hnc.md 2.4, H1, H2 and H6).
func (m *Moves) ValidateUnchanged(ctx context.Context, namespace *corev1.Namespace, parent string) error {
	_, err := m.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		return nil, validateEligible(ctx, s, newRejection(ctx, hnc.Singleton), namespace, parent)
	})
	return err
}

// ValidateRemoval validates the deletion of the Hierarchy of a namespace, which makes a full namespace a root. For a
// sub-namespace it needs the same permissions: without its Hierarchy only the annotation would keep its parent, and
// everybody allowed to update the namespace may remove that. In a namespace that is being deleted nothing is validated,
// because its content has to be removed.
func (m *Moves) ValidateRemoval(ctx context.Context, name string) (*fence.Guard, error) {
	return m.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		old, err := s.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if old.Hierarchy == "" {
			return guard, nil
		}
		edge := old
		edge.Hierarchy = ""
		active, err := s.activeNamespace(ctx, name)
		if err != nil {
			return nil, err
		}
		if active != nil && managedkeys.SubnamespaceOf(active.Annotations) != old.Parent {
			edge.Subnamespace = ""
		}
		edge.write(guard, name)
		if active == nil {
			return guard, nil
		}
		return guard, m.authorizer.authorizeMove(ctx, s, newRejection(ctx, hnc.Singleton), name, old.Parent, nil)
	})
}

// move is a change of a parent that the structure of the tree permits. If the parent is the current one, nothing moves.
type move struct {
	guard   *fence.Guard
	current string
	// chain is the chain of the new parent.
	chain []string
}

// validateStructure validates the structure of the tree, in the order of the specification.
func (m *Moves) validateStructure(ctx context.Context, s *snapshot, reject rejection, namespace *corev1.Namespace, parent string) (move, error) {
	if !s.fresh {
		// A new namespace, which no cache contains yet, has been read from the cluster already.
		s.namespaces[namespace.Name] = namespace
	}
	old, err := s.edge(ctx, namespace.Name)
	if err != nil {
		return move{}, err
	}
	effective, err := s.effective(ctx, namespace.Name, old)
	if err != nil {
		return move{}, err
	}
	current := ""
	if effective {
		current = old.Parent
	}
	// Only admins of the new parent learn anything about it, even whether it exists. Excluded names are no secret.
	if parent != "" && parent != current && m.index.config.Rules().NameExcluded(parent) == "" {
		if err := m.authorizer.requireAdmin(ctx, reject, parent, "new parent"); err != nil {
			return move{}, err
		}
	}
	if err := validateEligible(ctx, s, reject, namespace, parent); err != nil {
		return move{}, err
	}
	if parent == "" && !effective {
		// A Subnamespace that waits for the name keeps its claim.
		return move{guard: &fence.Guard{}}, nil
	}
	edge := edgeValue{Parent: parent}
	if parent != "" {
		edge.Hierarchy = namespace.UID
		if parent == old.Parent {
			edge.Subnamespace = old.Subnamespace
		}
	}
	// The edge is compared even if it does not change, because a stale index may take a change for none.
	guard := &fence.Guard{}
	if edge != old {
		edge.write(guard, namespace.Name)
		if parent != "" {
			guard.Mark = []string{parent}
		}
	}
	if parent == current {
		return move{guard: guard, current: current}, nil
	}
	now, err := s.current(ctx, namespace)
	if err != nil {
		return move{}, err
	}
	// The annotation alone makes no sub-namespace, because everybody allowed to update the namespace may write it.
	if current != "" && old.Subnamespace != "" && managedkeys.SubnamespaceOf(now.Annotations) == current {
		return move{}, reject.conflict("namespace %q is a sub-namespace of %q, and its parent can't be changed to %s; "+
			"remove its annotation %s first to make it a full namespace", namespace.Name, current, orNone(parent), hnc.AnnotationSubnamespaceOf)
	}
	// The namespace's own parent does not matter: a namespace whose parent is missing may get another one.
	halted := ""
	if current != "" {
		if halted, _, err = s.haltedAt(ctx, current, gapMissing); err != nil {
			return move{}, err
		}
	}
	if halted != "" {
		return move{}, reject.forbidden("the parent of %q, an ancestor of namespace %q, does not exist; create it, or give %q another parent first",
			halted, namespace.Name, halted)
	}
	if err := m.authorizeMissingParent(ctx, s, reject, namespace.Name, parent); err != nil {
		return move{}, err
	}
	chain, err := validateParent(ctx, s, reject, "spec.parent", parent, namespace.Name, parent)
	if err != nil {
		return move{}, err
	}
	if err := validateJoin(ctx, s, reject, "spec.parent", parent); err != nil {
		return move{}, err
	}
	if len(s.edges) > maxComparedEdges {
		return move{}, reject.invalid(reject.conflict, "spec.parent", parent, "namespace %q is too deep in its tree to be moved; move an ancestor of it first", namespace.Name)
	}
	return move{guard, current, chain}, nil
}

// maxComparedEdges is the number of edges that a write may compare; etcd allows 128 operations, of which one is for the
// object, one for the limits of quotas, and two for marks.
const maxComparedEdges = 124

func orNone(parent string) string {
	if parent == "" {
		return "<none>"
	}
	return `"` + parent + `"`
}
