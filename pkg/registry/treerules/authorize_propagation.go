package treerules

import (
	"context"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// AuthorizePropagation authorizes a change of spec.propagation in the Hierarchy of a namespace, which has the given
// parent after the write. It needs a permission in the root of the tree; the guard demands that this is the root at
// commit. A sub-namespace whose Hierarchy names no parent has the parent of its Subnamespace.
func (a *Authorizer) AuthorizePropagation(ctx context.Context, namespace, parent string) (*fence.Guard, error) {
	return a.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		chain, err := a.authorizePropagation(ctx, s, namespace, parent)
		return &fence.Guard{Mark: propagationMarks(chain)}, err
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
		_, err = a.authorizePropagation(ctx, s, name, "")
		return &fence.Guard{}, err
	})
}

// authorizePropagation returns the chain of the namespace.
func (a *Authorizer) authorizePropagation(ctx context.Context, s *snapshot, namespace, parent string) (chain []string, err error) {
	if parent == "" {
		edge, err := s.edge(ctx, namespace)
		if err != nil {
			return nil, err
		}
		effective, err := s.effective(ctx, namespace, edge)
		if err != nil {
			return nil, err
		}
		if edge.Subnamespace != "" && effective {
			parent = edge.Parent
		}
	}
	chain = []string{namespace}
	if parent != "" {
		above, err := s.ancestry(ctx, parent)
		if err != nil {
			return nil, err
		}
		chain = append(chain, above...)
	}
	return chain, a.requirePropagation(ctx, newRejection(ctx, hnc.Singleton), "spec.propagation", chain[len(chain)-1])
}

// propagationMarks returns the names of the marks of namespaces that get a new revision when spec.propagation is set in
// one of them or below, or comes there with a subtree. Who moves one of them has not seen that yet.
func propagationMarks(namespaces []string) []string {
	marks := make([]string, len(namespaces))
	for i, name := range namespaces {
		marks[i] = name + "/propagation"
	}
	return marks
}

// maxComparedMarks is how many marks of moving namespaces are compared: a transaction has a limit.
const maxComparedMarks = 40

// carriesPropagation returns, of some namespaces that are about to move, those that have a hierarchy that sets
// spec.propagation in them or below, each with the first namespace of such a hierarchy. Others must not come before the
// commit; of many namespaces, the first ones are compared.
func (a *Authorizer) carriesPropagation(ctx context.Context, s *snapshot, names ...string) (map[string]string, error) {
	if a.config.Sources == nil || len(names) == 0 {
		return nil, nil
	}
	var latest int64
	for _, name := range propagationMarks(names[:min(len(names), maxComparedMarks)]) {
		// The mark is read before what it is about.
		mark, err := a.config.Edges.Mark(ctx, name)
		if err != nil {
			return nil, internalerror.From(err)
		}
		s.marks[name], latest = mark, max(latest, mark)
	}
	if latest > 0 {
		if err := a.index.WaitUntilFresh(ctx); err != nil {
			return nil, err
		}
	}
	trees, known, err := a.config.Sources.Trees(ctx, latest)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, modesUnread()
	}
	carries, moving := map[string]string{}, sets.New(names...)
	for namespace := range trees {
		for _, at := range a.index.Chain(namespace) {
			if first, has := carries[at]; moving.Has(at) && (!has || namespace < first) {
				carries[at] = namespace
			}
		}
	}
	return carries, nil
}

// requirePropagation requires the permission to set spec.propagation in the tree of a root. The propagator has it. The
// field is what a rejection begins with.
func (a *Authorizer) requirePropagation(ctx context.Context, reject rejection, field, root string) error {
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	user, allowed, err := a.allowsUnlisted(ctx, hnc.PermissionPropagation, root)
	if err != nil || allowed {
		return err
	}
	return reject.forbidden("%s: user %q may not change what is propagated in the tree of namespace %q; "+
		"this needs the verb update on %s in namespace %q, the root of the tree", field, user, root, hnc.PermissionPropagation, root)
}
