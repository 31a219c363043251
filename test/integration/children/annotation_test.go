package children

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// annotate says of which namespace another is a sub-namespace; "" says of none.
func (u user) annotate(t *testing.T, namespace, of string) error {
	t.Helper()
	value := "null"
	if of != "" {
		value = fmt.Sprintf("%q", of)
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, hnc.AnnotationSubnamespaceOf, value)
	_, err := u.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// owner makes the user an admin of a namespace who may also update and delete the namespace itself.
func (u user) owner(t *testing.T, namespace string) {
	t.Helper()
	u.admin(t, namespace)
	u.grant(t, namespace, "get,update,patch,delete /namespaces")
}

// binding creates a RoleBinding, and returns its name.
func binding(t *testing.T, namespace string) string {
	t.Helper()
	b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-viewers"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
	if _, err := root.RbacV1().RoleBindings(namespace).Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Name
}

func eventuallyCopied(t *testing.T, namespace, name string) {
	t.Helper()
	suite.Eventually(t, name+" is copied to "+namespace, func() error {
		_, err := root.RbacV1().RoleBindings(namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err
	})
}

func TestAnAnnotationAloneDoesNotJoinATree(t *testing.T) {
	namespaces(t, "anno-victim", "anno-mine", "anno-other")
	mallory := newUser(t, "mallory-anno")
	mallory.owner(t, "anno-mine")
	secret := binding(t, "anno-victim")
	outside := func() {
		t.Helper()
		eventuallyReports(t, "anno-mine", hnc.ReasonSubnamespaceMissing, `"anno-victim", which has no Subnamespace`)
		ancestryIs(t, "anno-mine", "anno-mine")
		h, err := root.HNC.HncV1beta1().Hierarchies("anno-mine").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil || h.Spec.Parent != "" {
			t.Errorf("the hierarchy is %+v, %v", h, err)
		}
		if _, err := root.RbacV1().RoleBindings("anno-mine").Get(t.Context(), secret, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a RoleBinding was copied: %v", err)
		}
		victim, err := root.CoreV1().Namespaces().Get(t.Context(), "anno-victim", metav1.GetOptions{})
		if err != nil || victim.Labels[hnc.LabelHasSubnamespaces] != "" || victim.Labels[hnc.LabelInTree] != "" {
			t.Errorf("the parent that was named has the labels %v, %v", victim.Labels, err)
		}
	}
	if err := mallory.annotate(t, "anno-mine", "anno-victim"); err != nil {
		t.Fatal(err)
	}
	outside()

	// Making the hierarchy anew changes nothing, no matter who does it.
	mine := mallory.HNC.HncV1beta1().Hierarchies("anno-mine")
	if err := mine.Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	outside()
	if err := mallory.hierarchy(t, "anno-mine", requires()); err != nil {
		t.Fatal(err)
	}
	outside()
	refused(t, "naming the parent as well", mallory.hierarchy(t, "anno-mine", below("anno-victim")), apierrors.IsForbidden, `"anno-victim", which is the new parent`)

	// Another copy is the proof that everything has been looked at.
	if err := root.hierarchy(t, "anno-other", below("anno-victim")); err != nil {
		t.Fatal(err)
	}
	eventuallyCopied(t, "anno-other", secret)
	h, err := root.HNC.HncV1beta1().Hierarchies("anno-victim").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err == nil && len(h.Status.Children) > 1 {
		t.Errorf("the children of the parent are %v", h.Status.Children)
	}

	// With a Subnamespace it does: so a restore may bring the namespace first.
	if _, err := root.subnamespace(t, "anno-victim", "anno-mine"); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "anno-mine", "anno-mine", "anno-victim")
	eventuallyReports(t, "anno-mine", "-"+hnc.ReasonSubnamespaceMissing)
	eventuallyCopied(t, "anno-mine", secret)
	suite.Eventually(t, "the hierarchy names the parent", func() error {
		h, err := root.HNC.HncV1beta1().Hierarchies("anno-mine").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil && h.Spec.Parent != "anno-victim" {
			err = fmt.Errorf("got %+v", h.Spec)
		}
		return err
	})
}
