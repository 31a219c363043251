package tree

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Move judges that the Hierarchy of a namespace names a parent; an empty one makes the namespace a root. It returns
// the fence of the write. It fails with Forbidden or Conflict errors that say what to do (spec/hnc.md 2.4).
func (t *Tree) Move(ctx context.Context, namespace *corev1.Namespace, parent string) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		refused := refusal(ctx, hnc.Singleton)
		m, err := v.move(ctx, refused, namespace, parent)
		if err != nil || m.current == parent {
			return m.guard, err
		}
		if err := t.authorizeMove(ctx, v, refused, m.current, m.chain); err != nil {
			return nil, err
		}
		return m.guard, t.checkMove(ctx, refused, namespace, m.chain)
	})
}

// Preview returns why Move would refuse the move, and whether the tree permits it and the requester is authorized: what it would overwrite is
// the only objection then.
func (t *Tree) Preview(ctx context.Context, namespace *corev1.Namespace, parent string) (possible bool, err error) {
	// A stale view is validated again on fresh reads.
	_, err = t.judge(ctx, func(v *view) (*fence.Guard, error) {
		possible = false
		refused := refusal(ctx, hnc.Singleton)
		m, err := v.move(ctx, refused, namespace, parent)
		if err != nil {
			return nil, err
		}
		if m.current != parent {
			if err := t.authorizeMove(ctx, v, refused, m.current, m.chain); err != nil {
				return nil, err
			}
		}
		possible = true
		if m.current == parent {
			return nil, nil
		}
		return nil, t.checkMove(ctx, refused, namespace, m.chain)
	})
	return possible, err
}

// move is a change of a parent that the tree permits. Nothing moves if the parent is the current one already.
type move struct {
	guard   *fence.Guard
	current string
	// chain is the new parent's.
	chain []string
}

// move judges the structure, in the order of the specification.
func (v *view) move(ctx context.Context, refused refusals, namespace *corev1.Namespace, parent string) (move, error) {
	if !v.fresh {
		// A new namespace, which no cache holds yet, was asked for already.
		v.namespaces[namespace.Name] = namespace
	}
	old, err := v.edge(ctx, namespace.Name)
	if err != nil {
		return move{}, err
	}
	counts, err := v.counts(ctx, namespace.Name, old)
	if err != nil {
		return move{}, err
	}
	current := ""
	if counts {
		current = old.Parent
	}
	// Only admins of the new parent learn anything about it, even whether it exists. Which names are excluded is no secret.
	if parent != "" && parent != current && v.tree.Rules.NameExcluded(parent) == "" {
		if err := v.tree.requireAdmin(ctx, refused, parent, "new parent"); err != nil {
			return move{}, err
		}
	}
	if err := v.eligible(ctx, refused, namespace, parent); err != nil {
		return move{}, err
	}
	if parent == "" && !counts {
		// The claim of a Subnamespace that waits for the name stays.
		return move{guard: &fence.Guard{}}, nil
	}
	edge := Edge{Parent: parent}
	if parent != "" {
		edge.Hierarchy = namespace.UID
		if parent == old.Parent {
			edge.Subnamespace = old.Subnamespace
		}
	}
	// Even if nothing changes, the edge is compared: a stale tree may think so of a change.
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
	if current != "" && SubnamespaceOf(namespace) == current {
		return move{}, refused.conflict("namespace %q is a sub-namespace of %q, and its parent can't be changed to %s; "+
			"remove its annotation %s first to make it a full namespace", namespace.Name, current, orNone(parent), hnc.AnnotationSubnamespaceOf)
	}
	halted, err := v.haltedAbove(ctx, namespace.Name)
	if err != nil {
		return move{}, err
	}
	if halted != "" {
		return move{}, refused.forbidden("the parent of %q, an ancestor of namespace %q, does not exist; create it, or give %q another parent first",
			halted, namespace.Name, halted)
	}
	if err := v.mayName(ctx, refused, parent); err != nil {
		return move{}, err
	}
	chain, err := v.parentChain(ctx, refused, "spec.parent", parent, namespace.Name, parent)
	if err != nil {
		return move{}, err
	}
	if len(v.edges) > maxCompared {
		return move{}, refused.illegal(refused.conflict, "spec.parent", parent, "namespace %q is too deep in its tree to be moved; move an ancestor of it first", namespace.Name)
	}
	return move{guard, current, chain}, nil
}

// maxCompared is how many edges a write may compare; etcd takes 128 operations, and one is for the object.
const maxCompared = 127

// mayName says why the requester can't name a parent that does not exist, to apply a tree in any order: that takes the right to create
// namespaces and, as with any parent, being its admin, which move has checked. The edge to it is compared as any other, so no cycle can
// come about by what the parent's own hierarchy says once it exists.
func (v *view) mayName(ctx context.Context, refused refusals, parent string) error {
	if parent == "" {
		return nil
	}
	exists, err := v.namespace(ctx, parent)
	if err != nil || exists != nil {
		return err
	}
	user, may, err := v.tree.may(ctx, "create", corev1.GroupName, "", "namespaces")
	if err != nil || may {
		return err
	}
	return refused.illegal(refused.forbidden, "spec.parent", parent, "namespace %q does not exist; create it first. Naming a parent before it exists takes the verb create on "+
		"namespaces in the cluster, which user %q does not have, and the verb update on hierarchies.%s in that namespace", parent, user, hnc.GroupName)
}

// parentChain returns the chain of a parent that name shall get, nil for no parent, or why name can't get it. field is
// where the client has named the parent or, by its value, the child.
func (v *view) parentChain(ctx context.Context, refused refusals, field, value, name, parent string) ([]string, error) {
	if parent == "" {
		return nil, nil
	}
	exists, err := v.namespace(ctx, parent)
	if err != nil {
		return nil, err
	}
	if exists != nil && exists.DeletionTimestamp != nil {
		return nil, refused.forbidden("%s: namespace %q is being deleted; choose another parent", field, parent)
	}
	chain, err := v.chain(ctx, parent)
	if err != nil {
		return nil, err
	}
	var illegal *forest.MoveError
	if err := forest.CheckMove(name, chain); errors.As(err, &illegal) {
		return nil, refused.illegal(refused.conflict, field, value, "%v", illegal)
	}
	return chain, nil
}

// haltedAbove returns the nearest ancestor of name whose parent does not exist, "" if there is none. It does not look
// at name's own parent: a namespace whose parent is missing may get another one.
func (v *view) haltedAbove(ctx context.Context, name string) (string, error) {
	chain, err := v.ancestry(ctx, name)
	if err != nil || len(chain) < 3 {
		return "", err
	}
	for i := 2; i < len(chain); i++ {
		namespace, err := v.namespace(ctx, chain[i])
		if err != nil {
			return "", err
		}
		if namespace == nil {
			return chain[i-1], nil
		}
	}
	return "", nil
}

// Unmove judges that the Hierarchy of a namespace goes away, which makes a full namespace a root. For a sub-namespace it takes the same
// rights: without its Hierarchy, only the annotation would keep it in its place, and whoever may update the namespace can remove that.
// Nothing is checked in a namespace that is being deleted: its content has to go.
func (t *Tree) Unmove(ctx context.Context, name string) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		old, err := v.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if old.Hierarchy == "" {
			return guard, nil
		}
		edge := old
		edge.Hierarchy = ""
		living, err := v.living(ctx, name)
		if err != nil {
			return nil, err
		}
		if living != nil && SubnamespaceOf(living) != old.Parent {
			edge.Subnamespace = ""
		}
		edge.write(guard, name)
		if living == nil {
			return guard, nil
		}
		return guard, t.authorizeMove(ctx, v, refusal(ctx, hnc.Singleton), old.Parent, nil)
	})
}

// SubnamespaceOf returns the namespace of which the given one is a sub-namespace, "" for a full namespace and for an
// external one. The annotations alone decide (spec/hnc.md 0.1).
func SubnamespaceOf(namespace *corev1.Namespace) string {
	return managed.SubnamespaceOf(namespace.Annotations)
}

func orNone(parent string) string {
	if parent == "" {
		return "<none>"
	}
	return `"` + parent + `"`
}
