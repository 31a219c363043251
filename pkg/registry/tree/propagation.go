package tree

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Propagation judges that the Hierarchy of a namespace, which has the parent after the write, says something else about kinds than before.
// This takes a right in the root of the tree; the guard demands that it is the root at commit. A sub-namespace whose Hierarchy names no parent
// has that of its Subnamespace.
func (t *Tree) Propagation(ctx context.Context, namespace, parent string) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		return &fence.Guard{}, v.propagation(ctx, namespace, parent)
	})
}

// NoPropagation judges that the Hierarchy of a namespace goes, and what it says about kinds with it. Nothing is checked in a namespace that is
// being deleted: its content has to go.
func (t *Tree) NoPropagation(ctx context.Context, name string) (*fence.Guard, error) {
	return t.judge(ctx, func(v *view) (*fence.Guard, error) {
		namespace, err := v.namespace(ctx, name)
		if err != nil || namespace == nil || namespace.DeletionTimestamp != nil {
			return &fence.Guard{}, err
		}
		return &fence.Guard{}, v.propagation(ctx, name, "")
	})
}

func (v *view) propagation(ctx context.Context, namespace, parent string) error {
	if parent == "" {
		edge, err := v.edge(ctx, namespace)
		if err != nil {
			return err
		}
		counts, err := v.counts(ctx, namespace, edge)
		if err != nil {
			return err
		}
		if edge.Subnamespace != "" && counts {
			parent = edge.Parent
		}
	}
	root := namespace
	if parent != "" {
		chain, err := v.ancestry(ctx, parent)
		if err != nil {
			return err
		}
		root = chain[len(chain)-1]
	}
	return v.tree.requirePropagation(ctx, refusal(ctx, hnc.Singleton), root)
}

// requirePropagation checks that the requester may say in the tree of a root how kinds are propagated. The propagator may.
func (t *Tree) requirePropagation(ctx context.Context, refused refusals, root string) error {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errNoUser)
	}
	if user.GetName() == hnc.PropagatorUser {
		return nil
	}
	decision, _, err := t.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User:            user,
		Verb:            "update",
		Namespace:       root,
		APIGroup:        hnc.GroupName,
		APIVersion:      "*",
		Resource:        "hierarchies",
		Subresource:     "propagation",
		ResourceRequest: true,
	})
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if decision == authorizer.DecisionAllow {
		return nil
	}
	return refused.forbidden("spec.propagation: user %q may not change what is propagated in the tree of namespace %q; "+
		"this needs the verb update on hierarchies/propagation.%s in namespace %q, the root of the tree", user.GetName(), root, hnc.GroupName, root)
}
