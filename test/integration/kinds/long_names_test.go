package kinds

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The propagator and the administrator name our objects in requests.
func TestNamesOfOurObjectsFitIntoRequests(t *testing.T) {
	root, _, _ := tree(t, "longours")
	name := metav1.ObjectMeta{Name: strings.Repeat("n", 254)}
	_, err := admin.HNC.HncV1alpha3().CopyReleases(root).Create(t.Context(), &v1alpha3.CopyRelease{ObjectMeta: name,
		Spec: v1alpha3.CopyReleaseSpec{Resource: "configmaps", Name: "a", Source: root}}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.name") {
		t.Errorf("a CopyRelease: got %v", err)
	}
	_, err = admin.HNC.HncV1beta1().HierarchicalResourceQuotas(root).Create(t.Context(), &v1beta1.HierarchicalResourceQuota{ObjectMeta: name}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.name") {
		t.Errorf("a quota: got %v", err)
	}
}

// Names of Roles may be of any length, but no request can delete one whose escaped name is larger than a request's
// headers may be.
func TestObjectsWhoseNamesFitIntoNoRequestAreNotCopied(t *testing.T) {
	root, _, leaf := tree(t, "toolong")
	long := "L" + strings.Repeat("?", 380000)
	role := func(u user, namespace, name string, labels map[string]string) {
		t.Helper()
		suite.Must(t, "creating a Role", func() error {
			meta := metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
			_, err := u.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta}, metav1.CreateOptions{})
			return err
		})
	}
	role(alice, root, long, nil)
	role(alice, root, "short", nil)
	copiesOf := func(want string) {
		t.Helper()
		suite.Eventually(t, "the Roles of the leaf are "+want, func() error {
			list, err := alice.RbacV1().Roles(leaf).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				return err
			}
			var got []string
			for _, r := range list.Items {
				got = append(got, names.Shorten(r.Name))
			}
			if s := strings.Join(got, " "); s != want {
				return fmt.Errorf("they are %q", s)
			}
			return nil
		})
	}
	copiesOf("short")
	suite.Eventually(t, "the hierarchy reports it", func() error {
		h, err := alice.HNC.HncV1beta1().Hierarchies(root).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range h.Status.Details() {
			if c.Reason == hnc.ReasonNamesTooLong && len(c.Message) < 4096 {
				return nil
			}
		}
		return fmt.Errorf("its conditions have the reasons of %d conditions", len(h.Status.Conditions))
	})

	// An earlier version copied it.
	config := rest.CopyConfig(cp.RESTConfig())
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:hns-system:hns-propagator"}
	earlier, err := clients("earlier", config)
	if err != nil {
		t.Fatal(err)
	}
	role(earlier, leaf, long, map[string]string{hnc.LabelInheritedFrom: root})
	copiesOf("short")

	// No request can delete it by name.
	suite.Must(t, "deleting the Roles", func() error {
		return alice.RbacV1().Roles(root).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	})
	copiesOf("")
}

// The admin of a namespace binds a Role of theirs under a name that fits into no record of what is overwritten. Another
// Role of its name comes from above.
func TestALongRoleBindingKeepsNoRoleOut(t *testing.T) {
	root, _, leaf := tree(t, "longbound")
	tenant, long := tenantOf(t, leaf, "longbound-tenant", "admin"), strings.Repeat("L", 3000)
	suite.Must(t, "a Role of the tenant's", func() error {
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}
		_, err := tenant.RbacV1().Roles(leaf).Create(t.Context(), role, metav1.CreateOptions{})
		return err
	})
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: long}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "ops"},
	}
	if _, err := tenant.RbacV1().RoleBindings(leaf).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	putRole(t, root, "secrets", nil)
	eventuallyPresent(t, roles, leaf, "ops=<"+root)
	eventuallyPresent(t, roleBindings, leaf, "longbound-tenant=")
	suite.EventuallyEqual(t, "an event says that it is not kept", "true", func() string {
		found := events(t, leaf, names.Shorten(long), hnc.EventOverwritten)
		return boolean(len(found) == 1 && strings.Contains(found[0].Message, "its content could not be kept: names of more than 253 bytes"))
	})
}
