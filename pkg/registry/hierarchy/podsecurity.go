package hierarchy

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// podSecurity checks what a write changes in the Pod Security labels that a hierarchy sets.
func (k hooks) podSecurity(ctx context.Context, namespace string, before, after hnc.HierarchySpec) error {
	return k.tree.CheckPodSecurity(ctx, hnc.Singleton, namespace, slices.Concat(before.Labels, before.NamespaceLabels), slices.Concat(after.Labels, after.NamespaceLabels))
}

// podSecurityGoes checks the same for a hierarchy that goes. In a namespace that is being deleted it may.
func (k hooks) podSecurityGoes(ctx context.Context, h *hnc.Hierarchy) error {
	err := k.podSecurity(ctx, h.Namespace, h.Spec, hnc.HierarchySpec{})
	if !apierrors.IsForbidden(err) {
		return err
	}
	if living, failed := k.tree.Living(ctx, h.Namespace); failed != nil || !living {
		return failed
	}
	return err
}
