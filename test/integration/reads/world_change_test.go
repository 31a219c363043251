package reads

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// change makes a random change of a binding, a role or the tree.
func (w *world) change(t *testing.T) {
	t.Helper()
	rbac, ctx := root.RbacV1(), t.Context()
	var err error
	switch n := w.random.IntN(20); {
	case n < 5:
		b := w.binding(some(w.random, w.namespaces))
		w.bindings = append(w.bindings, b)
		_, err = rbac.RoleBindings(b.Namespace).Create(ctx, b, metav1.CreateOptions{})
	case n < 9:
		b := some(w.random, w.bindings)
		err = rbac.RoleBindings(b.Namespace).Delete(ctx, b.Name, metav1.DeleteOptions{})
	case n < 11:
		b := some(w.random, w.bindings).DeepCopy()
		b.Subjects = append(b.Subjects[1:], w.subject())
		_, err = rbac.RoleBindings(b.Namespace).Update(ctx, b, metav1.UpdateOptions{})
	case n < 13:
		role := w.clusterRole(some(w.random, worldRoles))
		if role.AggregationRule == nil && w.random.IntN(2) == 0 {
			role.Rules = w.rules()
		}
		_, err = rbac.ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
	case n < 14:
		name := fmt.Sprintf("wide-%d", w.random.IntN(5))
		if err = rbac.ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
			wide := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: clusterRole(some(w.random, worldRoles)), Subjects: []rbacv1.Subject{w.subject()}}
			_, err = rbac.ClusterRoleBindings().Create(ctx, wide, metav1.CreateOptions{})
		}
	case n < 18:
		// Moves that can't be are refused.
		if err = w.move(t, some(w.random, w.namespaces), some(w.random, w.namespaces)); apierrors.IsForbidden(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
			err = nil
		}
	case n < 19:
		err = root.CoreV1().Namespaces().Delete(ctx, some(w.random, w.namespaces), metav1.DeleteOptions{})
	default:
		w.made++
		name := fmt.Sprintf("x%03d", w.made)
		w.namespaces = append(w.namespaces, name)
		if _, err = root.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err == nil {
			if err = w.move(t, name, some(w.random, w.namespaces)); apierrors.IsForbidden(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
				err = nil
			}
		}
	}
	// What is deleted can't be changed, and in a namespace that ends nothing can be created.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
}
