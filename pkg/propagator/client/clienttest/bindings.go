// Package clienttest replaces what reads from the API server.
package clienttest

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Bindings is client.Bindings, read by a clientset.
type Bindings struct{ kubernetes.Interface }

// RoleBindings lists all RoleBindings at once.
func (b Bindings) RoleBindings(ctx context.Context, namespace, selector string, refers func(string) bool, found func(*rbacv1.RoleBinding) error) error {
	list, err := b.RbacV1().RoleBindings(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if r := list.Items[i].RoleRef; r.Kind == "Role" && refers(r.Name) {
			if err := found(&list.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
