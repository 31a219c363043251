package reads

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/typed/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func (u user) mine() v1alpha3.MyNamespaceInterface { return u.HNC.HncV1alpha3().MyNamespaces() }

// names lists the namespaces that a user sees, joined by blanks.
func (u user) names(t *testing.T, options metav1.ListOptions) (string, error) {
	t.Helper()
	list, err := u.mine().List(t.Context(), options)
	if err != nil {
		return "", err
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return strings.Join(names, " "), nil
}

// promptly is after how many polls a list is right at the latest, after a change of a binding: within a second on a
// machine that has nothing else to do.
const promptly = 10

// mustSee fails unless the user's list becomes that promptly.
func (u user) mustSee(t *testing.T, want string) {
	t.Helper()
	reads := 0
	suite.Eventually(t, "the list is "+want, func() error {
		reads++
		got, err := u.names(t, metav1.ListOptions{})
		if err == nil && got != want {
			err = fmt.Errorf("got %q, want %q", got, want)
		}
		return err
	})
	if reads > promptly {
		t.Errorf("it took %d reads until the list was %q", reads, want)
	}
}

func TestEverybodySeesHisOwnNamespaces(t *testing.T) {
	namespaces(t, "own-a", "own-b", "own-c")
	eve := newUser(t, "eve", "eves")
	eve.mustSee(t, "")
	if _, err := eve.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing namespaces themselves: %v", err)
	}
	view := bind(t, "own-b", "view", "eve")
	eve.mustSee(t, "own-b")
	// Permissions that don't include the namespace itself.
	role(t, "own-pods", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"*"}})
	bind(t, "own-a", "own-pods", "eve")
	role(t, "own-two", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}, ResourceNames: []string{"own-a", "own-c"}})
	wide, err := root.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "own-two"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "own-two"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "eves"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eve.mustSee(t, "own-a own-b own-c")
	if err := root.RbacV1().RoleBindings("own-b").Delete(t.Context(), view.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eve.mustSee(t, "own-a own-c")
	if _, err := eve.mine().Get(t.Context(), "own-a", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"own-b", "no-such-namespace"} {
		if _, err := eve.mine().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("getting %s: %v", name, err)
		}
	}
	role, err := root.RbacV1().ClusterRoles().Get(t.Context(), "own-two", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	role.Rules[0].ResourceNames = []string{"own-c"}
	if _, err := root.RbacV1().ClusterRoles().Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eve.mustSee(t, "own-c")
	if err := root.RbacV1().ClusterRoleBindings().Delete(t.Context(), wide.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eve.mustSee(t, "")
	everything, err := root.names(t, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kube-system", "own-a", "own-b"} {
		if !strings.Contains(everything, name) {
			t.Errorf("the superuser does not see %s in %s", name, everything)
		}
	}
}

// Who may ask at all is RBAC's to say, like everything else.
func TestMynamespacesTakeAPermission(t *testing.T) {
	const name = "hns-mynamespaces"
	binding, err := root.RbacV1().ClusterRoleBindings().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mallory := newUser(t, "mallory")
	mallory.mustSee(t, "")
	if err := root.RbacV1().ClusterRoleBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		binding.ResourceVersion = ""
		if _, err := root.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		suite.Eventually(t, "it is served again", func() error { _, err := mallory.names(t, metav1.ListOptions{}); return err })
	}()
	suite.Eventually(t, "it is denied", func() error {
		if _, err := mallory.names(t, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			return fmt.Errorf("want Forbidden, got %w", err)
		}
		return nil
	})
	if _, err := mallory.mine().Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("get: %v", err)
	}
	if _, err := mallory.mine().Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("watch: %v", err)
	}
}

// Kubernetes' own controllers leave alone what can't be deleted: a namespace still comes and goes.
func TestMynamespacesAreForReadingOnly(t *testing.T) {
	resources, err := root.Discovery().ServerResourcesForGroupVersion("hnc.x-k8s.io/v1alpha3")
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range resources.APIResources {
		if resource.Name == "mynamespaces" {
			if got := strings.Join(resource.Verbs, " "); got != "get list watch" || resource.Namespaced || resource.ShortNames[0] != "myns" {
				t.Errorf("got %v", resource)
			}
		}
	}
	frank := newUser(t, "frank")
	if err := root.HNC.HncV1alpha3().RESTClient().Delete().Resource("mynamespaces").Name("default").Do(t.Context()).Error(); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("deleting one as the superuser: %v", err)
	}
	if err := frank.HNC.HncV1alpha3().RESTClient().Delete().Resource("mynamespaces").Name("default").Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
		t.Errorf("deleting one: %v", err)
	}
	namespaces(t, "fleeting")
	bind(t, "fleeting", "view", "frank")
	frank.mustSee(t, "fleeting")
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "fleeting", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "fleeting is gone", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "fleeting", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still %v: %w", conditions(ns), err)
	})
	frank.mustSee(t, "")
}

func conditions(ns *corev1.Namespace) []corev1.NamespaceCondition {
	if ns == nil {
		return nil
	}
	return ns.Status.Conditions
}
