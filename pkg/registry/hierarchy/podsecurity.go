package hierarchy

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// authorizePodSecurity authorizes a change of the Pod Security labels that a hierarchy sets.
func (k hooks) authorizePodSecurity(ctx context.Context, namespace string, before, after hnc.HierarchySpec) error {
	return k.tree.Authorizer.AuthorizePodSecurity(ctx, hnc.Singleton, namespace,
		treerules.SetLabels{Labels: before.Labels, NamespaceLabels: before.NamespaceLabels}, treerules.SetLabels{Labels: after.Labels, NamespaceLabels: after.NamespaceLabels})
}

// authorizePodSecurityRemoval authorizes the removal of a hierarchy that sets Pod Security labels. In a namespace that
// is being deleted it needs no permission.
func (k hooks) authorizePodSecurityRemoval(ctx context.Context, h *hnc.Hierarchy) error {
	err := k.authorizePodSecurity(ctx, h.Namespace, h.Spec, hnc.HierarchySpec{})
	if !apierrors.IsForbidden(err) {
		return err
	}
	if active, failed := k.tree.Index.IsActive(ctx, h.Namespace); failed != nil || !active {
		return failed
	}
	return err
}
