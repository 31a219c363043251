package hierarchy

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// validateAbstract validates spec.abstractAncestors if it differs from before, and adds its comparisons to the fence of
// the write.
func (k hooks) validateAbstract(ctx context.Context, h *hnc.Hierarchy, before []string, namespace *corev1.Namespace) error {
	if slices.Equal(h.Spec.AbstractAncestors, before) {
		return nil
	}
	shared := h.Annotations[hnc.AnnotationAllowSharedNames] == "true"
	return addGuard(ctx)(k.tree.Abstract.Validate(ctx, namespace, before, h.Spec.AbstractAncestors, shared))
}

// authorizeSharedNames authorizes a change of the annotation that allows names of namespaces as stored abstract
// ancestors, which hides a condition.
func (k hooks) authorizeSharedNames(ctx context.Context, h, oldH *hnc.Hierarchy) error {
	names := oldH.Spec.AbstractAncestors
	if len(names) == 0 || h.Annotations[hnc.AnnotationAllowSharedNames] == oldH.Annotations[hnc.AnnotationAllowSharedNames] {
		return nil
	}
	return k.tree.Abstract.Authorize(ctx, h.Namespace, names, names)
}

// validateAbstractRemoval validates that spec.abstractAncestors is removed with the object.
func (k hooks) validateAbstractRemoval(ctx context.Context, h *hnc.Hierarchy) error {
	if len(h.Spec.AbstractAncestors) == 0 {
		return nil
	}
	return addGuard(ctx)(k.tree.Abstract.ValidateRemoval(ctx, h.Namespace, h.Spec.AbstractAncestors))
}
