package treerules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/ownerref"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Abstract validates and authorizes spec.abstractAncestors. It puts labels on a subtree that policies select namespaces
// by, so it must neither give a namespace the label of a tree in which the requester has no permissions, nor take it
// out of the policies of a directory.
type Abstract struct {
	index      *Index
	authorizer *Authorizer
}

// Validate validates a changed spec.abstractAncestors in the Hierarchy of a namespace, which has no parent after the
// write. shared allows the names of existing namespaces. The guard demands that the namespace does not become a
// sub-namespace before the commit.
func (a *Abstract) Validate(ctx context.Context, namespace *corev1.Namespace, before, after []string, shared bool) (*fence.Guard, error) {
	return a.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		reject := newRejection(ctx, hnc.Singleton)
		if err := a.authorizer.authorizeAbstract(ctx, s, reject, namespace.Name, slices.Concat(before, after), after); err != nil || len(after) == 0 {
			return &fence.Guard{}, err
		}
		if err := validateAbstractPosition(ctx, s, reject, namespace); err != nil || accessreview.ByPropagator(ctx) {
			return &fence.Guard{}, err
		}
		for i, name := range after {
			if slices.Contains(before, name) {
				// A namespace that was created later is reported as a condition.
				continue
			}
			if err := validateAbstractName(ctx, s, reject, fmt.Sprintf("spec.abstractAncestors[%d]", i), name, shared); err != nil {
				return nil, err
			}
		}
		return &fence.Guard{}, nil
	})
}

// Authorize returns an error if the requester lacks the permissions for a change of spec.abstractAncestors in a
// namespace. It reads nothing else.
func (a *Abstract) Authorize(ctx context.Context, namespace string, before, after []string) error {
	s := newSnapshot(a.index, false)
	return a.authorizer.authorizeAbstract(ctx, s, newRejection(ctx, hnc.Singleton), namespace, slices.Concat(before, after), after)
}

// ValidateRemoval validates the deletion of a Hierarchy with abstract ancestors. In a namespace that is being deleted,
// it needs no permission.
func (a *Abstract) ValidateRemoval(ctx context.Context, name string, before []string) (*fence.Guard, error) {
	return a.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		namespace, err := s.activeNamespace(ctx, name)
		if err != nil || namespace == nil {
			return &fence.Guard{}, err
		}
		return &fence.Guard{}, a.authorizer.authorizeAbstract(ctx, s, newRejection(ctx, hnc.Singleton), name, before, nil)
	})
}

// validateAbstractPosition rejects abstract ancestors of a namespace that has a parent by a Subnamespace, or whose tree
// labels are its manager's.
func validateAbstractPosition(ctx context.Context, s *snapshot, reject rejection, namespace *corev1.Namespace) error {
	current, err := s.current(ctx, namespace)
	if err != nil {
		return err
	}
	if manager := managedkeys.Manager(current.Annotations); manager != "" {
		return reject.forbidden("spec.abstractAncestors: namespace %q is managed by %q, which sets its tree labels; leave the field out, or remove the namespace's annotation %s",
			namespace.Name, manager, hnc.AnnotationManagedBy)
	}
	e, err := s.edge(ctx, namespace.Name)
	if err != nil || e.Hierarchy != "" {
		return err
	}
	effective, err := s.effective(ctx, namespace.Name, e)
	if err != nil || !effective {
		return err
	}
	return reject.conflict("spec.abstractAncestors: namespace %q is a sub-namespace of %q, and only a root can have abstract ancestors; "+
		"set them on the root of its tree", namespace.Name, e.Parent)
}

// validateAbstractName rejects the name of an excluded namespace, and that of an existing one unless shared names are
// allowed.
func validateAbstractName(ctx context.Context, s *snapshot, reject rejection, field, name string, shared bool) error {
	if s.index.config.Rules().Listed(name) {
		return reject.forbidden("%s: namespace %q is excluded from hierarchies by the administrator; choose another name", field, name)
	}
	exists, err := s.namespace(ctx, name)
	if err != nil || exists == nil || exists.DeletionTimestamp != nil || shared {
		return err
	}
	return reject.invalid(reject.conflict, field, name, "a namespace of this name exists, so the label %s would mean both; "+
		"choose another name, or set the annotation %s=true of this object to allow it", hnc.TreeLabel(name), hnc.AnnotationAllowSharedNames)
}

// authorizeAbstract requires the permission to set abstract ancestors in the whole cluster: a permission in one's own
// namespaces, which are copied into namespaces of any free name, must not give one of them the labels of others. The
// propagator may restore what the namespace's annotation says, which only it can write.
func (a *Authorizer) authorizeAbstract(ctx context.Context, s *snapshot, reject rejection, namespace string, names, after []string) error {
	if accessreview.ByPropagator(ctx) {
		current, err := s.namespace(ctx, namespace)
		if err != nil || len(after) == 0 || (current != nil && slices.Equal(hnc.AbstractAncestors(current.Annotations), after)) {
			return err
		}
		return reject.forbidden("spec.abstractAncestors: the annotation %s of namespace %q does not name %s; set them as a user who may",
			hnc.AnnotationAbstractAncestors, namespace, strings.Join(after, ", "))
	}
	user, allowed, err := a.allowsUnlisted(ctx, hnc.PermissionAbstract, "")
	if err != nil || allowed {
		return err
	}
	return reject.forbidden("spec.abstractAncestors: user %q may not change the abstract ancestors %s of namespace %q; this needs the verb update on "+
		"%s in the whole cluster", user, quoted(names), namespace, hnc.PermissionAbstract)
}

// authorizeLeaving requires the permission to the abstract ancestors that a namespace loses when it leaves the tree of
// a root: admins of the root must not take namespaces out of the policies of a directory that they may not leave
// themselves. chain is that of the new parent.
func (a *Authorizer) authorizeLeaving(ctx context.Context, s *snapshot, reject rejection, root string, chain []string) error {
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	recorded, lost, err := a.abstractAncestors(ctx, s, root)
	if err != nil {
		return err
	}
	lost = append(recorded, lost...)
	if len(chain) > 0 {
		_, kept, err := a.abstractAncestors(ctx, s, chain[len(chain)-1])
		if err != nil {
			return err
		}
		lost = slices.DeleteFunc(lost, func(name string) bool { return slices.Contains(kept, name) })
	}
	if len(lost) == 0 {
		return nil
	}
	user, allowed, err := a.allowsUnlisted(ctx, hnc.PermissionAbstract, "")
	if err != nil || allowed {
		return err
	}
	return reject.forbidden("user %q may not take a namespace out of the tree of %q, which is below the abstract ancestors %s; this needs the verb update on "+
		"%s in the whole cluster", user, root, quoted(lost), hnc.PermissionAbstract)
}

// abstractAncestors returns the abstract ancestors that the annotation of a root records, which lags behind, and those
// that its effective Hierarchy names.
func (a *Authorizer) abstractAncestors(ctx context.Context, s *snapshot, root string) (recorded, named []string, err error) {
	namespace, err := s.namespace(ctx, root)
	if err != nil || namespace == nil {
		return nil, nil, err
	}
	recorded = hnc.AbstractAncestors(namespace.Annotations)
	h, err := a.hierarchies(ctx, root)
	if apierrors.IsNotFound(err) {
		return recorded, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	_, owns, err := ownerref.Namespace(ctx, s.index, h)
	if err != nil || !owns {
		return recorded, nil, err
	}
	return recorded, h.Spec.AbstractAncestors, nil
}

// quoted returns names in order, once each.
func quoted(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// authorizeAbstractName authorizes a new sub-namespace with the name of an abstract ancestor of others: it and all
// below it would have the tree label by which policies select those. The propagator creates none, because it has no
// permissions of its own.
func (c *Claims) authorizeAbstractName(ctx context.Context, reject rejection, field, name string) error {
	if c.config.IsAbstractAncestor == nil || !c.config.IsAbstractAncestor(name) {
		return nil
	}
	user, allowed, err := hnc.PropagatorUser, false, error(nil)
	if !accessreview.ByPropagator(ctx) {
		user, allowed, err = c.authorizer.allowsUnlisted(ctx, hnc.PermissionAbstract, name)
	}
	if err != nil || allowed {
		return err
	}
	return reject.forbidden("%s: %q is the name of an abstract ancestor of other namespaces, whose tree label policies select by; choose another name. "+
		"User %q needs the verb update on %s in namespace %q to create it", field, name, user, hnc.PermissionAbstract, name)
}
