package treerules

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// validateEligible rejects a Hierarchy whose namespace or parent is excluded, and a parent of an external namespace. It
// does not look at the tree.
func validateEligible(ctx context.Context, s *snapshot, reject rejection, namespace *corev1.Namespace, parent string) error {
	why, err := s.excluded(ctx, namespace.Name)
	if err != nil {
		return err
	}
	if why != "" {
		return reject.forbidden("namespace %q is %s", namespace.Name, why)
	}
	if parent == "" {
		return nil
	}
	if why, err = s.excluded(ctx, parent); err != nil {
		return err
	}
	if why != "" {
		return reject.forbidden("spec.parent: namespace %q is %s; choose another parent", parent, why)
	}
	current, err := s.current(ctx, namespace)
	if err != nil {
		return err
	}
	if manager := managedkeys.Manager(current.Annotations); manager != "" {
		return reject.forbidden("spec.parent: namespace %q is managed by %q, so it can only be a root; leave the parent out, or remove the namespace's annotation %s",
			namespace.Name, manager, hnc.AnnotationManagedBy)
	}
	return nil
}

// current returns the namespace as the snapshot has it, and the given one if it does not.
func (s *snapshot) current(ctx context.Context, namespace *corev1.Namespace) (*corev1.Namespace, error) {
	current, err := s.namespace(ctx, namespace.Name)
	if err == nil && current == nil {
		current = namespace
	}
	return current, err
}

// authorizeMissingParent authorizes a parent that does not exist, so that a tree can be applied in any order. It needs
// the permission to create namespaces and, as for any parent, to be its admin, which validateStructure has checked. The
// edge to it is compared like any other, so the parent's own hierarchy cannot close a cycle once the parent exists.
func (m *Moves) authorizeMissingParent(ctx context.Context, s *snapshot, reject rejection, name, parent string) error {
	if parent == "" {
		return nil
	}
	exists, err := s.namespace(ctx, parent)
	if err != nil || exists != nil {
		return err
	}
	user, allowed, err := m.authorizer.allowsAny(ctx, "create", "", corev1.Resource("namespaces"))
	if err != nil {
		return err
	}
	if allowed {
		warning.AddWarning(ctx, "", fmt.Sprintf("spec.parent: namespace %q does not exist; nothing is propagated to namespace %q and its descendants until it is created, or another parent is set",
			parent, name))
		return nil
	}
	return reject.invalid(reject.forbidden, "spec.parent", parent, "namespace %q does not exist; create it first. Naming a parent before it exists takes the verb create on "+
		"namespaces in the cluster, which user %q does not have, and the verb update on hierarchies.%s in that namespace", parent, user, hnc.GroupName)
}

// validateParent returns the chain of the parent that a namespace gets, nil for no parent, or why it cannot get it. The
// field is where the client has named the parent or, by its value, the child.
func validateParent(ctx context.Context, s *snapshot, reject rejection, field, value, name, parent string) ([]string, error) {
	if parent == "" {
		return nil, nil
	}
	exists, err := s.namespace(ctx, parent)
	if err != nil {
		return nil, err
	}
	if exists != nil && exists.DeletionTimestamp != nil {
		return nil, beingDeleted(reject, field, parent)
	}
	chain, err := s.chain(ctx, parent)
	if err != nil {
		return nil, err
	}
	var illegal *forest.MoveError
	if err := s.checkMove(ctx, name, chain); errors.As(err, &illegal) {
		return nil, reject.invalid(reject.conflict, field, value, "%v", illegal)
	} else if err != nil {
		return nil, err
	}
	return chain, nil
}

func beingDeleted(reject rejection, field, parent string) error {
	return reject.forbidden("%s: namespace %q is being deleted; choose another parent", field, parent)
}

// validateJoin rejects that an existing namespace comes below one whose ancestor is being deleted, other than by the
// propagator. When the edge of that ancestor is gone, the chain ends there, while the propagator still counts what is
// below to the whole tree.
func validateJoin(ctx context.Context, s *snapshot, reject rejection, field, parent string) error {
	if parent == "" || accessreview.ByPropagator(ctx) {
		return nil
	}
	edge, err := s.edge(ctx, parent)
	if err != nil {
		return err
	}
	if why, err := s.gap(ctx, parent, !edge.held()); err != nil {
		return err
	} else if why == gapEnding {
		return beingDeleted(reject, field, parent)
	}
	halted, _, err := s.haltedAt(ctx, parent, gapEnding)
	if err != nil || halted == "" {
		return err
	}
	return reject.forbidden("%s: nothing may come below namespace %q now, because the parent of namespace %q is being deleted; choose another parent", field, parent, halted)
}

// checkMove returns a *forest.MoveError if a namespace cannot be below a parent with the given chain. What is below the
// namespace is counted from the index: those edges are not compared at commit, so what comes there meanwhile, which may
// have as many levels as a tree, makes the tree deeper than it may be. Nothing comes below that depth afterwards. A
// comparison that all joins of the tree invalidate would let them keep a namespace in it. A fresh snapshot waits for the
// index only where it decides.
func (s *snapshot) checkMove(ctx context.Context, name string, chain []string) error {
	err := forest.CheckMove(name, s.index.height(name), chain)
	if err == nil || !s.fresh || forest.CheckMove(name, 0, chain) != nil {
		return err
	}
	if err := s.index.WaitUntilFresh(ctx); err != nil {
		return err
	}
	return forest.CheckMove(name, s.index.height(name), chain)
}
