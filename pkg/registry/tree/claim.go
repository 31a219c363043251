package tree

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Claim judges that a Subnamespace makes name a child of parent. It returns the fence of the write, by which only one
// of several parents can get a name. Who may create Subnamespaces in the parent needs no other right (spec/hnc.md 2.5).
func (t *Tree) Claim(ctx context.Context, name string, parent *corev1.Namespace) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		refused := refusal(ctx, name)
		if why, err := v.excluded(ctx, parent.Name); err != nil {
			return nil, err
		} else if why != "" {
			return nil, refused.forbidden("namespace %q is %s; it can't have sub-namespaces", parent.Name, why)
		}
		if why, err := v.excluded(ctx, name); err != nil {
			return nil, err
		} else if why != "" {
			return nil, refused.forbidden("metadata.name: namespace %q is %s; choose another name", name, why)
		}
		old, err := v.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		if old.Parent != "" && old.Parent != parent.Name {
			return nil, refused.conflict("metadata.name: namespace %q has the parent %q already; choose another name", name, old.Parent)
		}
		exists, err := v.namespace(ctx, name)
		if err != nil {
			return nil, err
		}
		switch {
		case exists == nil:
		case exists.DeletionTimestamp != nil:
			return nil, refused.conflict("metadata.name: namespace %q is being deleted; try again when it is gone", name)
		case SubnamespaceOf(exists) != parent.Name:
			return nil, refused.conflict("metadata.name: namespace %q exists already; choose another name, "+
				"or set spec.parent of its hierarchy to %q", name, parent.Name)
		}
		if now, err := v.namespace(ctx, parent.Name); err != nil {
			return nil, err
		} else if now == nil {
			return nil, refused.forbidden("metadata.namespace: namespace %q does not exist; create it first", parent.Name)
		}
		if _, err := v.parentChain(ctx, refused, "metadata.namespace", name, parent.Name); err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		Edge{Parent: parent.Name, Hierarchy: old.Hierarchy, Subnamespace: parent.UID}.write(guard, name)
		return guard, nil
	})
}

// Release returns the fence of the write by which the Subnamespace name goes from its parent.
func (t *Tree) Release(ctx context.Context, name, parent string) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		edge, err := v.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if edge.Parent == parent {
			edge.Subnamespace = ""
			edge.write(guard, name)
		}
		return guard, nil
	})
}

// Deletable judges that the Subnamespace name may be deleted together with its namespace: unless it has children, and
// neither it nor an ancestor allows cascading deletion. It is advisory: children may come until the namespace is gone.
func (t *Tree) Deletable(ctx context.Context, name string, parent *corev1.Namespace, hierarchies Hierarchies) error {
	children := t.Children(name)
	if parent.DeletionTimestamp != nil || len(children) == 0 {
		return nil
	}
	namespace, err := t.Namespace(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if SubnamespaceOf(namespace) != parent.Name || namespace.DeletionTimestamp != nil {
		return nil
	}
	_, err = t.judge(ctx, func(v *view) (*fence.Guard, error) {
		chain, err := v.chain(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, at := range chain {
			hierarchy, err := hierarchies(ctx, at)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if allowed := hierarchy.Spec.AllowCascadingDeletion; allowed != nil && *allowed {
				return nil, nil
			}
		}
		// The content of a namespace that is being deleted has to go, even if the cache doesn't know of it yet.
		if now, err := v.namespace(ctx, parent.Name); err != nil || now == nil || now.DeletionTimestamp != nil {
			return nil, err
		}
		child, err := v.firstOf(ctx, children, name)
		if err != nil || child == "" {
			return nil, err
		}
		return nil, refusal(ctx, name).forbidden("namespace %q has children (%q for one) and does not allow cascading deletion; "+
			"delete them first, or set spec.allowCascadingDeletion of the hierarchy in namespace %q", name, child, name)
	})
	return err
}

// firstOf returns the first of the children whose parent is still the given one, "" if they have all left.
func (v *view) firstOf(ctx context.Context, children []string, parent string) (string, error) {
	for _, child := range children {
		edge, err := v.edge(ctx, child)
		if err != nil {
			return "", err
		}
		if edge.Parent == parent {
			return child, nil
		}
	}
	return "", nil
}
