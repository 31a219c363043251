package tree

import (
	"context"


	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/review"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// AuthorizePropagation authorizes a change of spec.propagation in the Hierarchy of a namespace, which has the given
// parent after the write. It needs a permission in the root of the tree; the guard demands that this is the root at
// commit. A sub-namespace whose Hierarchy names no parent has the parent of its Subnamespace.
func (a *Authorizer) AuthorizePropagation(ctx context.Context, namespace, parent string) (*fence.Guard, error) {
	return a.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		return &fence.Guard{}, a.authorizePropagation(ctx, s, namespace, parent)
	})
}

// AuthorizePropagationRemoval authorizes the deletion of a Hierarchy that sets spec.propagation. In a namespace that is
// being deleted, it needs no permission, because the content of the namespace has to be removed.
func (a *Authorizer) AuthorizePropagationRemoval(ctx context.Context, name string) (*fence.Guard, error) {
	return a.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		namespace, err := s.activeNamespace(ctx, name)
		if err != nil || namespace == nil {
			return &fence.Guard{}, err
		}
		return &fence.Guard{}, a.authorizePropagation(ctx, s, name, "")
	})
}

func (a *Authorizer) authorizePropagation(ctx context.Context, s *snapshot, namespace, parent string) error {
	if parent == "" {
		edge, err := s.edge(ctx, namespace)
		if err != nil {
			return err
		}
		effective, err := s.effective(ctx, namespace, edge)
		if err != nil {
			return err
		}
		if edge.Subnamespace != "" && effective {
			parent = edge.Parent
		}
	}
	root := namespace
	if parent != "" {
		chain, err := s.ancestry(ctx, parent)
		if err != nil {
			return err
		}
		root = chain[len(chain)-1]
	}
	return a.requirePropagation(ctx, newRejection(ctx, hnc.Singleton), "spec.propagation", root)
}

// requirePropagation requires the permission to set spec.propagation in the tree of a root. The propagator has it. The
// field is what a rejection begins with.
func (a *Authorizer) requirePropagation(ctx context.Context, reject rejection, field, root string) error {
	if review.ByPropagator(ctx) {
		return nil
	}
	user, allowed, err := a.allowsUnlisted(ctx, hnc.PermissionPropagation, root)
	if err != nil || allowed {
		return err
	}
	return reject.forbidden("%s: user %q may not change what is propagated in the tree of namespace %q; "+
		"this needs the verb update on %s in namespace %q, the root of the tree", field, user, root, hnc.PermissionPropagation, root)
}
