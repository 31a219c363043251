package migrate

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// pretender is a namespace whose users have written, before the migration, what only a controller should write.
const pretender = "pretender"

// pretend creates a namespace with the tree label of another tree, and objects in it that look like copies, of a
// propagated kind and of another one.
func pretend(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: pretender, Labels: map[string]string{hnc.TreeLabel(root): "1", hnc.LabelInTree: "true", hnc.LabelHasSubnamespaces: "true"},
	}}, metav1.CreateOptions{})
	meta := metav1.ObjectMeta{Name: "pretended", Labels: map[string]string{hnc.LabelInheritedFrom: root}}
	_, propagated := admin.CoreV1().ConfigMaps(pretender).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	_, other := admin.CoreV1().LimitRanges(pretender).Create(ctx, &corev1.LimitRange{ObjectMeta: meta}, metav1.CreateOptions{})
	if err := errors.Join(err, propagated, other); err != nil {
		t.Fatal(err)
	}
}

// corrected checks that none of this made the namespace part of a tree: the propagator takes the labels away and
// deletes the alleged copy. Objects of kinds that are not propagated stay.
func corrected(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	suite.Eventually(t, "the labels are taken away", func() error {
		ns, err := admin.CoreV1().Namespaces().Get(ctx, pretender, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, label := range []string{hnc.TreeLabel(root), hnc.LabelInTree, hnc.LabelHasSubnamespaces} {
			if value, ok := ns.Labels[label]; ok {
				return fmt.Errorf("it has the label %s=%s", label, value)
			}
		}
		return nil
	})
	suite.Eventually(t, "the alleged copy is deleted", func() error {
		_, err := admin.CoreV1().ConfigMaps(pretender).Get(ctx, "pretended", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it exists: %w", err)
	})
	if _, err := admin.CoreV1().LimitRanges(pretender).Get(ctx, "pretended", metav1.GetOptions{}); err != nil {
		t.Errorf("the object of a kind that is not propagated: %v", err)
	}
	h, err := admin.HNC.HncV1beta1().Hierarchies(pretender).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if err == nil && h.Spec.Parent != "" {
		t.Errorf("it has the parent %s", h.Spec.Parent)
	}
}

// needsImpersonation checks that all permissions on objects are not enough to act as hns-propagator, which may do what
// the user may not.
func needsImpersonation(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	const name = "migrator"
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}}}
	_, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	_, bound := admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	}, metav1.CreateOptions{})
	if err := errors.Join(err, bound); err != nil {
		t.Fatal(err)
	}
	const want = "all of which cluster-admin has:\n  impersonate serviceaccounts in namespace hns-system\n"
	suite.Eventually(t, "only the impersonation is missing", func() error {
		_, err := plugin(t, "", "migrate", "--yes", "--as="+name, "--export="+filepath.Join(t.TempDir(), "export.yaml"))
		if err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got %w, want %q", err, want)
		}
		return nil
	})
	if err := errors.Join(admin.RbacV1().ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{}), admin.RbacV1().ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{})); err != nil {
		t.Fatal(err)
	}
}

// protectsCopies checks that tenants cannot change copies while neither HNC's webhooks nor the installed policies
// exist.
func protectsCopies(t *testing.T) {
	t.Helper()
	patch := []byte(`{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`)
	for name, write := range map[string]func() error{
		"a change": func() error {
			_, err := admin.RbacV1().Roles(descendant).Patch(t.Context(), "reader", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		"a deletion": func() error {
			return admin.RbacV1().Roles(descendant).Delete(t.Context(), "reader", metav1.DeleteOptions{})
		},
	} {
		if err := write(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "is inherited from namespace "+root) {
			t.Errorf("%s of a copy during the migration: %v", name, err)
		}
	}
}
