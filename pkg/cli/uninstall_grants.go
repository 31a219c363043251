package cli

import (
	"context"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// removeGrants deletes the RoleBindings by which hns-gateway acts as the callers of requests, and their copies: nobody
// needs them without it, and a later installation makes them again for its TenantViews. The policies that protect them
// must be gone. A policy that was just deleted may still be enforced.
func (o *uninstallOptions) removeGrants(ctx context.Context, c *Clients) error {
	bindings, err := c.Kube.RbacV1().RoleBindings(corev1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + hnc.ViewGrant})
	if err != nil {
		return err
	}
	for i := range bindings.Items {
		binding := &bindings.Items[i]
		if binding.RoleRef.Name != hnc.ViewGrantRole {
			continue // somebody else's of that name
		}
		if !o.dryRun.Enabled() {
			if err := o.removeGrant(ctx, c, binding.Namespace, binding.UID); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(o.Out, names.Line("rolebindings.rbac.authorization.k8s.io/%s in %s deleted%s", binding.Name, binding.Namespace, o.dryRun.Suffix())); err != nil {
			return err
		}
	}
	return nil
}

// removeGrant deletes a grant as soon as no policy forbids it.
func (o *uninstallOptions) removeGrant(ctx context.Context, c *Clients, namespace string, uid types.UID) error {
	wait := &waitFlags{timeout: podTimeout}
	return wait.poll(ctx, o.ErrOut, func(ctx context.Context) (string, error) {
		err := c.Kube.RbacV1().RoleBindings(namespace).Delete(ctx, hnc.ViewGrant, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		switch {
		case apierrors.IsNotFound(err):
			return "", nil
		case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
			return "the policies still protect the RoleBinding " + hnc.ViewGrant + " in " + namespace, nil
		}
		return "", err
	})
}
