package tree

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// authorizeMove checks that the requester may take a namespace from its current parent to the one whose chain is
// given; "" and nil stand for none. A move affects both trees: the requester must be admin of the new parent, which move has
// checked, and of the most recent common ancestor of both parents or, if there is none, of the root that the namespace leaves.
// All these chains have been read by v, so that they are compared at commit. An orphan, whose
// parent is gone, only needs the new parent; and so does the child of a namespace that can't be part of a tree (spec/hnc.md
// 2.4.2, with its holes closed).
func (t *Tree) authorizeMove(ctx context.Context, v *view, refused refusals, current string, chain []string) error {
	if current != "" {
		parent, err := v.namespace(ctx, current)
		if err != nil {
			return err
		}
		nobodys := parent == nil
		// A cache is not believed that the parent has been excluded. Who is refused is judged again without caches.
		if v.fresh && !nobodys {
			why, err := v.excluded(ctx, current)
			if err != nil {
				return err
			}
			nobodys = why != ""
		}
		if !nobodys {
			left, err := v.ancestry(ctx, current)
			if err != nil {
				return err
			}
			if len(chain) > 0 {
				if chain, err = v.ancestry(ctx, chain[0]); err != nil {
					return err
				}
			}
			at, role := left[len(left)-1], "root of the tree that the namespace leaves"
			if i := slices.IndexFunc(left, func(name string) bool { return slices.Contains(chain, name) }); i >= 0 {
				at, role = left[i], "most recent common ancestor of the old and the new parent"
			}
			if err := t.requireAdmin(ctx, refused, at, role); err != nil {
				return err
			}
		}
	}
	return nil
}

// requireAdmin checks that the requester may update the hierarchy of a namespace, under either of its names.
func (t *Tree) requireAdmin(ctx context.Context, refused refusals, namespace, role string) error {
	user, may, err := t.may(ctx, "update", hnc.GroupName, namespace, "hierarchies", "hierarchyconfigurations")
	if err != nil || may {
		return err
	}
	return refused.forbidden("user %q may not modify the subtree of namespace %q, which is the %s; "+
		"this needs the verb update on hierarchies.%s there", user, namespace, role, hnc.GroupName)
}

// may says whether the requester has the verb on one of the resources in a namespace, "" for all of the cluster, and returns the
// requester's name. The propagator may do everything: it only repeats what others were allowed to say.
func (t *Tree) may(ctx context.Context, verb, group, namespace string, resources ...string) (string, bool, error) {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return "", false, apierrors.NewInternalError(errNoUser)
	}
	if ByPropagator(ctx) {
		return user.GetName(), true, nil
	}
	for _, resource := range resources {
		decision, _, err := t.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
			User:            user,
			Verb:            verb,
			Namespace:       namespace,
			APIGroup:        group,
			APIVersion:      "*",
			Resource:        resource,
			ResourceRequest: true,
		})
		if err != nil {
			return "", false, apierrors.NewInternalError(err)
		}
		if decision == authorizer.DecisionAllow {
			return user.GetName(), true, nil
		}
	}
	return user.GetName(), false, nil
}
