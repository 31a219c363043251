package children

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// grantBelow binds the user to the role view in a namespace and all below it, and returns the name of the RoleBinding.
func (u user) grantBelow(t *testing.T, namespace string) string {
	t.Helper()
	name := "view-" + u.Name
	if _, err := root.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.Name}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}

// A tenant keeps a namespace terminating with a finalizer of an object of theirs. Kubernetes deletes its hierarchy at
// once.
func TestATerminatingNamespaceKeepsNoRevokedGrant(t *testing.T) {
	namespaces(t, "hang-top", "hang-mid", "hang-leaf")
	for child, parent := range map[string]string{"hang-mid": "hang-top", "hang-leaf": "hang-mid"} {
		if err := root.hierarchy(t, child, below(parent)); err != nil {
			t.Fatal(err)
		}
	}
	revoked, local := newUser(t, "hang-revoked"), newUser(t, "hang-local")
	above := revoked.grantBelow(t, "hang-top")
	local.grantBelow(t, "hang-mid")
	for _, namespace := range []string{"hang-mid", "hang-leaf"} {
		revoked.eventuallyMay(t, "get", "", "pods", namespace, "")
	}
	local.eventuallyMay(t, "get", "", "pods", "hang-leaf", "")

	mallory := newUser(t, "hang-mallory")
	mallory.admin(t, "hang-mid")
	if _, err := mallory.CoreV1().ConfigMaps("hang-mid").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "hold", Finalizers: []string{"example.com/hold"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The namespace controller deletes nothing here, so that the copy in the terminating namespace goes only if the
	// propagator deletes it.
	withoutNamespaceController(t, func() {
		newOperator(t, "hang-operator").deleteNamespace(t, "hang-mid")
		if err := root.RbacV1().RoleBindings("hang-top").Delete(t.Context(), above, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, namespace := range []string{"hang-mid", "hang-leaf"} {
			suite.Eventually(t, "the revoked grant has no effect in "+namespace, func() error {
				if revoked.may(t, "get", "", "pods", namespace, "") {
					return fmt.Errorf("it still has")
				}
				return nil
			})
		}
	})

	// Without its hierarchy, the namespace is still where it was, and so is what is below it.
	suite.Eventually(t, "Kubernetes deletes the hierarchy of hang-mid", func() error {
		_, err := root.HNC.HncV1beta1().Hierarchies("hang-mid").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil:
			return fmt.Errorf("it is there")
		}
		return err
	})
	above = revoked.grantBelow(t, "hang-top")
	revoked.eventuallyMay(t, "get", "", "pods", "hang-leaf", "")
	if err := root.RbacV1().RoleBindings("hang-top").Delete(t.Context(), above, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the revoked grant has no effect in hang-leaf", func() error {
		if revoked.may(t, "get", "", "pods", "hang-leaf", "") {
			return fmt.Errorf("it still has")
		}
		return nil
	})
	leaf, err := root.CoreV1().Namespaces().Get(t.Context(), "hang-leaf", metav1.GetOptions{})
	if err != nil || leaf.Labels[hnc.TreeLabel("hang-top")] != "2" {
		t.Errorf("hang-leaf has the labels %v, %v", leaf.Labels, err)
	}
	// What vanishes with the terminating namespace was not withdrawn.
	if !local.may(t, "get", "", "pods", "hang-leaf", "") {
		t.Error("the grant in the terminating namespace has no effect below it any more")
	}
	if _, err := root.CoreV1().ConfigMaps("hang-mid").Patch(t.Context(), "hold", types.MergePatchType, []byte(fmt.Sprintf(finalizers, "")), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyNoNamespace(t, "hang-mid")
	if !local.may(t, "get", "", "pods", "hang-leaf", "") {
		t.Error("the grant in the namespace that is gone has no effect below it any more")
	}
}

// A namespace that terminates without its hierarchy is the root of what is below it. So its admins may let that leave,
// without the admins above it, but no others: less than when it is gone, and the orphans' own admins may.
func TestATerminatingNamespaceFreesNobodyButItsOrphans(t *testing.T) {
	namespaces(t, "freed-top", "freed-mid", "freed-a", "freed-b", "freed-own")
	for child, parent := range map[string]string{"freed-mid": "freed-top", "freed-a": "freed-mid", "freed-b": "freed-mid"} {
		if err := root.hierarchy(t, child, below(parent)); err != nil {
			t.Fatal(err)
		}
	}
	carol, mallory := newUser(t, "carol-freed"), newUser(t, "mallory-freed")
	for _, u := range []user{carol, mallory} {
		u.admin(t, "freed-a", "freed-b", "freed-own")
	}
	refused(t, "while nothing terminates", mallory.hierarchy(t, "freed-a", below("freed-own")), apierrors.IsForbidden, `"freed-top", which is the root`)
	held := metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}
	if _, err := root.RbacV1().RoleBindings("freed-mid").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: held, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: mallory.Name}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mallory.eventuallyMay(t, "update", hnc.GroupName, "hierarchies", "freed-mid", "")
	refused(t, "as an admin of the parent", mallory.hierarchy(t, "freed-a", below("freed-own")), apierrors.IsForbidden, `"freed-top", which is the root`)

	newOperator(t, "operator-freed").deleteNamespace(t, "freed-mid")
	suite.Eventually(t, "Kubernetes deletes the hierarchy of freed-mid", func() error {
		_, err := root.HNC.HncV1beta1().Hierarchies("freed-mid").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("got %w", err)
	})
	refused(t, "while the parent terminates", carol.hierarchy(t, "freed-b", below("freed-own")), apierrors.IsForbidden, `"freed-mid", which is the root`)
	if err := mallory.hierarchy(t, "freed-a", below("freed-own")); err != nil {
		t.Errorf("an admin of the terminating parent: %v", err)
	}
	if _, err := root.RbacV1().RoleBindings("freed-mid").Patch(t.Context(), "held", types.MergePatchType, []byte(fmt.Sprintf(finalizers, "")), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyNoNamespace(t, "freed-mid")
	if err := carol.hierarchy(t, "freed-b", below("freed-own")); err != nil {
		t.Errorf("an admin of the orphan: %v", err)
	}
}
