package quota

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// editor returns a user with the role edit in a namespace, who may patch it and the namespaces below.
func editor(t *testing.T, name, namespace string) suite.User {
	t.Helper()
	config, err := cp.User(name)
	if err != nil {
		t.Fatal(err)
	}
	user, err := suite.NewUser(name, config)
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "patch"}}}}
	if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"edit", name} {
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}}
		if _, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return user
}

// The owner of sub-namespaces could otherwise convert each to have room for another one.
func TestConvertedSubnamespacesCount(t *testing.T) {
	tree(t, "convert-", "top", "team<top")
	limit(t, "convert-top", "q", "count/subnamespaces.hnc.x-k8s.io=2")
	eve := editor(t, "eve-convert", "convert-team")
	client := eve.HNC.HncV1beta1().Subnamespaces("convert-team")
	suite.Eventually(t, "a sub-namespace", func() error {
		_, err := client.Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "convert-1"}}, metav1.CreateOptions{})
		return err
	})
	suite.Eventually(t, "the conversion", func() error {
		_, err := eve.CoreV1().Namespaces().Patch(t.Context(), "convert-1", types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, hnc.AnnotationSubnamespaceOf), metav1.PatchOptions{})
		return err
	})
	suite.Eventually(t, "the Subnamespace goes", func() error {
		s, err := client.Get(t.Context(), "convert-1", metav1.GetOptions{})
		if err == nil && s.Annotations[hnc.AnnotationVoid] == "" {
			return fmt.Errorf("not void yet")
		}
		if err == nil {
			err = client.Delete(t.Context(), "convert-1", metav1.DeleteOptions{})
		}
		if err == nil {
			err = fmt.Errorf("deleted, and not gone yet")
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	_, err := client.Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "convert-2"}}, metav1.CreateOptions{})
	const want = `"convert-top": "q", requested: count/subnamespaces.hnc.x-k8s.io=1, used: count/subnamespaces.hnc.x-k8s.io=2`
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("another one: got %v, want %s", err, want)
	}
	wantStatus(t, "convert-top", "q", "count/subnamespaces.hnc.x-k8s.io=2", held)
	wantNamespaces(t, "convert-top", "q", "convert-team: count/subnamespaces.hnc.x-k8s.io=1", "convert-top: count/subnamespaces.hnc.x-k8s.io=1")
}
