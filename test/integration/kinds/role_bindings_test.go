package kinds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var (
	roles        = schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: "roles"}
	roleBindings = schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: "rolebindings"}
)

// putRole creates the Role ops as alice, which allows to get a resource.
func putRole(t *testing.T, namespace, resource string, annotations map[string]string) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "ops", Annotations: annotations},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: []string{"get"}}}}
	suite.Must(t, "the Role in "+namespace, func() error {
		_, err := alice.RbacV1().Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{})
		return err
	})
}

// bind binds the Role or ClusterRole of the name as alice.
func bind(t *testing.T, namespace, name, kind, role, subject string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: subject}}}
	suite.Must(t, "the RoleBinding "+name+" in "+namespace, func() error {
		_, err := alice.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{})
		return err
	})
}

// eventuallyReported waits for the event that a RoleBinding is not copied to a namespace because of its Role.
func eventuallyReported(t *testing.T, namespace, name, role, below string) {
	t.Helper()
	suite.EventuallyEqual(t, "events about "+name, "true", func() string {
		events, err := admin.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
		if err != nil {
			return err.Error()
		}
		return boolean(slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.Reason == hnc.EventCannotPropagate && strings.Contains(e.Message, fmt.Sprintf("%q", below)) && strings.Contains(e.Message, fmt.Sprintf("role %q", role))
		}))
	})
}

// A copy would bind the Role that is there, whatever it allows.
func TestARoleBindingIsCopiedOnlyToWhereItsRoleIs(t *testing.T) {
	root, mid, leaf := tree(t, "rolesof")
	eve, err := person(t.Context(), "rolesof-eve")
	if err != nil {
		t.Fatal(err)
	}
	putRole(t, leaf, "secrets", nil)
	putRole(t, mid, "configmaps", map[string]string{hnc.AnnotationNone: "true"})
	bind(t, mid, "bind-eve", "Role", "ops", "rolesof-eve")
	bind(t, root, "bind-nothing", "Role", "no-such", "rolesof-eve")
	// What comes later shows that what was there has been looked at.
	bind(t, mid, "later", "ClusterRole", "test-alice", "nobody")
	eventuallyPresent(t, roleBindings, leaf, "later=<"+mid)
	eventuallyPresent(t, roleBindings, mid, "bind-eve= later=")
	eventuallyReported(t, mid, "bind-eve", "ops", leaf)
	eventuallyReported(t, root, "bind-nothing", "no-such", mid)
	suite.Must(t, "eve's permissions in "+mid, func() error {
		_, err := eve.CoreV1().ConfigMaps(mid).Get(t.Context(), "none", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if _, err := eve.CoreV1().Secrets(leaf).Get(t.Context(), "any", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("eve gets Secrets in %s by the Role there: %v", leaf, err)
	}
	t.Run("a namespace that joins", func(t *testing.T) {
		namespace(t, "rolesof-joins", "")
		putRole(t, "rolesof-joins", "secrets", nil)
		eventuallyMoved(t, "rolesof-joins", mid)
		eventuallyPresent(t, roleBindings, "rolesof-joins", "later=<"+mid)
	})
	t.Run("the Role is propagated, and not any more", func(t *testing.T) {
		annotate := func(value string) {
			t.Helper()
			if err := patch(t, roles, mid, "ops", fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, hnc.AnnotationNone, value)); err != nil {
				t.Fatal(err)
			}
		}
		annotate("false")
		for _, below := range []string{leaf, "rolesof-joins"} {
			eventuallyPresent(t, roles, below, "ops=<"+mid)
			eventuallyPresent(t, roleBindings, below, "bind-eve=<"+mid+" later=<"+mid)
		}
		annotate("true")
		for _, below := range []string{leaf, "rolesof-joins"} {
			eventuallyPresent(t, roleBindings, below, "later=<"+mid)
			eventuallyPresent(t, roles, below, "")
		}
	})
	t.Run("the Role comes from above", func(t *testing.T) {
		remove(t, roles, mid, "ops")
		putRole(t, root, "configmaps", nil)
		eventuallyPresent(t, roles, mid, "ops=<"+root)
		eventuallyPresent(t, roleBindings, mid, "later=") // The Role of mid was another one.
		bind(t, mid, "bind-eve", "Role", "ops", "rolesof-eve")
		eventuallyPresent(t, roleBindings, leaf, "bind-eve=<"+mid+" later=<"+mid)
		if err := patch(t, roles, root, "ops", fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, hnc.AnnotationTreeSelect, "!"+leaf)); err != nil {
			t.Fatal(err)
		}
		eventuallyPresent(t, roleBindings, leaf, "later=<"+mid)
		eventuallyPresent(t, roleBindings, "rolesof-joins", "bind-eve=<"+mid+" later=<"+mid)
	})
	t.Run("the Role is deleted", func(t *testing.T) {
		remove(t, roles, root, "ops")
		eventuallyPresent(t, roleBindings, "rolesof-joins", "later=<"+mid)
	})
}

// kube-apiserver has authorized them by the rules that the name had. A namespace below has a copy of such a RoleBinding,
// and one that refers to a copy of such a Role.
func TestARoleFromAboveIsNotGrantedByEarlierRoleBindings(t *testing.T) {
	root, mid, leaf := tree(t, "early")
	eve, err := person(t.Context(), "early-eve")
	if err != nil {
		t.Fatal(err)
	}
	putRole(t, mid, "configmaps", nil)
	bind(t, mid, "early", "Role", "ops", "early-eve")
	eventuallyPresent(t, roles, leaf, "ops=<"+mid)
	bind(t, leaf, "inherited", "Role", "ops", "early-eve")
	eventuallyPresent(t, roleBindings, leaf, "early=<"+mid+" inherited=")
	namespace(t, "early-joins", "")
	putRole(t, "early-joins", "configmaps", nil)
	bind(t, "early-joins", "dangling", "Role", "ops", "early-eve")
	remove(t, roles, "early-joins", "ops")

	putRole(t, root, "secrets", nil)
	for _, below := range []string{mid, leaf} {
		eventuallyPresent(t, roles, below, "ops=<"+root)
		eventuallyPresent(t, roleBindings, below, "")
		if _, err := eve.CoreV1().Secrets(below).Get(t.Context(), "any", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("eve gets Secrets in %s: %v", below, err)
		}
	}
	for namespace, name := range map[string]string{mid: "early", leaf: "inherited"} {
		if _, err := admin.HNC.HncV1alpha3().OverwrittenObjects(namespace).Get(t.Context(), "rolebindings.rbac.authorization.k8s.io:"+name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	suite.EventuallyEqual(t, "a move that would invalidate one", "true", func() string {
		err := change(t.Context(), alice, "early-joins", func(spec *v1beta1.HierarchySpec) { spec.Parent = mid })
		return boolean(apierrors.IsConflict(err) && strings.Contains(err.Error(), "dangling (rbac.authorization.k8s.io/v1, Kind=RoleBinding)"))
	})
	// What is bound later is authorized by the rules from above, and stays after a restart of the caches or a move.
	bind(t, leaf, "later", "Role", "ops", "early-eve")
	suite.Must(t, "eve's permissions in "+leaf, func() error {
		_, err := eve.CoreV1().Secrets(leaf).Get(t.Context(), "any", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	eventuallyMoved(t, leaf, root)
	eventuallyPresent(t, roleBindings, leaf, "later=")
}

// A local Role that is deleted allows what it does until its last finalizer is removed.
func TestARoleBindingIsNotCopiedToWhereAFinalizerKeepsALocalRole(t *testing.T) {
	top, held, _ := tree(t, "rolesheld")
	putRole(t, held, "secrets", nil)
	if err := patch(t, roles, held, "ops", `{"metadata":{"finalizers":["example.com/hold"]}}`); err != nil {
		t.Fatal(err)
	}
	remove(t, roles, held, "ops")
	putRole(t, top, "configmaps", nil)
	bind(t, top, "bind-held", "Role", "ops", "nobody")
	eventuallyReported(t, top, "bind-held", "ops", held)
	bind(t, top, "last", "ClusterRole", "test-alice", "nobody")
	eventuallyPresent(t, roleBindings, held, "last=<"+top)
	if err := patch(t, roles, held, "ops", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, roles, held, "ops=<"+top)
	eventuallyPresent(t, roleBindings, held, "bind-held=<"+top+" last=<"+top)
}

func TestRoleBindingsFollowTheLabelsThatTheirRolesSelect(t *testing.T) {
	_, mid, leaf := tree(t, "rolelabels")
	putRole(t, mid, "configmaps", map[string]string{hnc.AnnotationSelect: "env=prod"})
	bind(t, mid, "bind-some", "Role", "ops", "nobody")
	eventuallyReported(t, mid, "bind-some", "ops", leaf)
	label(t, leaf, `"prod"`)
	eventuallyPresent(t, roleBindings, leaf, "bind-some=<"+mid)
	label(t, leaf, "null")
	eventuallyPresent(t, roleBindings, leaf, "")
}

// A local Role may be in its place as long as the copy is rejected.
func TestARoleBindingIsCopiedOnceItsRoleIsThere(t *testing.T) {
	root, _, leaf := tree(t, "rolefirst")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "no-roles"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/roles.rbac.authorization.k8s.io": resource.MustParse("0")}}}
	if _, err := alice.CoreV1().ResourceQuotas(leaf).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "Roles are rejected in "+leaf, "true", func() string {
		_, err := alice.RbacV1().Roles(leaf).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return boolean(err != nil && strings.Contains(err.Error(), "exceeded quota: no-roles"))
	})
	putRole(t, root, "configmaps", nil)
	bind(t, root, "bind-first", "Role", "ops", "nobody")
	bind(t, root, "later", "ClusterRole", "test-alice", "nobody")
	eventuallyPresent(t, roleBindings, leaf, "later=<"+root)
	if err := alice.CoreV1().ResourceQuotas(leaf).Delete(t.Context(), quota.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, roles, leaf, "ops=<"+root)
	eventuallyPresent(t, roleBindings, leaf, "bind-first=<"+root+" later=<"+root)
}
