package viewdefinition

import (
	"errors"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client/clienttest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// The name of the Role is known before the propagator writes it.
func TestRoleBindingsToAnotherRoleAreRemovedBeforeTheGrant(t *testing.T) {
	rule := func(verb string, groups ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: groups, Resources: []string{"*"}, Verbs: []string{verb}}}
	}
	for name, row := range map[string]struct {
		present []rbacv1.PolicyRule // nil: there is no Role
		// during creates the RoleBinding while the Role is written; held gives it a finalizer.
		during, held  bool
		bound, writes bool
	}{
		"there is no Role":         {writes: true},
		"somebody has written one": {present: []rbacv1.PolicyRule{}, writes: true},
		"it allows less":           {present: rule("get", "a.view"), writes: true},
		"it is for other groups":   {present: rule("*", "a.io"), writes: true},
		"it allows some names only": {
			present: []rbacv1.PolicyRule{{APIGroups: []string{"a.view"}, Resources: []string{"*"}, Verbs: []string{"*"}, ResourceNames: []string{"x"}}}, writes: true,
		},
		"it is the grant for fewer groups":  {present: rule("*", "a.view"), bound: true, writes: true},
		"a finalizer keeps the RoleBinding": {held: true},
		"it is created meanwhile":           {during: true, writes: true},
		"it is created meanwhile and held":  {during: true, held: true},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			bind := func() {
				b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "waiting", UID: "b"}, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "grant"}}
				if row.held {
					b.Finalizers = []string{"example.com/held"}
				}
				if err := client.Tracker().Add(b); err != nil {
					t.Fatal(err)
				}
			}
			if row.present != nil {
				if err := client.Tracker().Add(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "grant"}, Rules: row.present}); err != nil {
					t.Fatal(err)
				}
			}
			if row.during {
				client.PrependReactor("create", "roles", func(clientgotesting.Action) (bool, runtime.Object, error) {
					bind()
					return false, nil, nil
				})
			} else {
				bind()
			}
			client.PrependReactor("*", "roles", func(action clientgotesting.Action) (bool, runtime.Object, error) {
				list, err := client.Tracker().List(rbacv1.SchemeGroupVersion.WithResource("rolebindings"), rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), "acme")
				if verb := action.GetVerb(); err == nil && (verb == "create" || verb == "update") && (len(list.(*rbacv1.RoleBindingList).Items) > 0) != row.bound {
					t.Errorf("before the Role is written: %v", list)
				}
				return false, nil, err
			})
			c := New(controller.Dependencies{Kubernetes: client, Bindings: clienttest.Bindings{Interface: client}, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false)})
			err := c.writeRole(t.Context(), "acme", &rbacv1.Role{
				ObjectMeta: metav1.ObjectMeta{Name: "grant", Labels: map[string]string{"hnc.x-k8s.io/view-root": "acme"}}, Rules: rule("*", "a.view", "b.view"),
			})
			if (err == nil) != row.writes {
				t.Errorf("got %v", err)
			}
			bindings, err := client.RbacV1().RoleBindings("acme").List(t.Context(), metav1.ListOptions{})
			if err != nil || (len(bindings.Items) == 1) != row.bound {
				t.Errorf("the RoleBindings are %v, %v", bindings.Items, err)
			}
			roles, err := client.RbacV1().Roles("acme").List(t.Context(), metav1.ListOptions{})
			granted := slices.ContainsFunc(roles.Items, func(r rbacv1.Role) bool { return len(r.Rules) == 1 && len(r.Rules[0].APIGroups) == 2 })
			if err != nil || granted != row.writes {
				t.Errorf("the Roles are %v, %v", roles.Items, err)
			}
		})
	}
}

// By an owner or a finalizer, a tenant would decide when the grant is deleted: it is in effect until then.
func TestTheGrantHasNoOwnersAndNoFinalizers(t *testing.T) {
	meta := metav1.ObjectMeta{
		Namespace: "acme", Name: "grant", Labels: map[string]string{hnc.LabelViewRoot: "acme"},
		Finalizers: []string{"example.com/held"}, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "c"}},
	}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "grant"}
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"a.view"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	wanted := metav1.ObjectMeta{Name: "grant", Labels: meta.Labels}
	for name, row := range map[string]struct {
		ref rbacv1.RoleRef
		do  func(*Controller) error
		// gone reports that the grant is deleted.
		gone bool
	}{
		"granted": {ref: ref, do: func(c *Controller) error {
			return errors.Join(c.writeRole(t.Context(), "acme", &rbacv1.Role{ObjectMeta: wanted, Rules: rules}),
				c.writeBinding(t.Context(), "acme", &rbacv1.RoleBinding{ObjectMeta: wanted, RoleRef: ref}))
		}},
		"granted in place of another RoleBinding": {ref: rbacv1.RoleRef{Name: "other"}, do: func(c *Controller) error {
			return errors.Join(c.writeRole(t.Context(), "acme", &rbacv1.Role{ObjectMeta: wanted, Rules: rules}),
				c.writeBinding(t.Context(), "acme", &rbacv1.RoleBinding{ObjectMeta: wanted, RoleRef: ref}))
		}},
		"revoked": {ref: ref, do: func(c *Controller) error { return c.revoke(t.Context(), "acme", "grant") }, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(&rbacv1.Role{ObjectMeta: meta, Rules: rules}, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: row.ref})
			client.PrependReactor("delete", "*", func(a clientgotesting.Action) (bool, runtime.Object, error) {
				object, err := client.Tracker().Get(a.GetResource(), "acme", "grant")
				if err == nil && len(object.(metav1.Object).GetFinalizers()) > 0 {
					t.Errorf("a finalizer keeps %v", object)
				}
				return false, nil, err
			})
			c := New(controller.Dependencies{Kubernetes: client, Bindings: clienttest.Bindings{Interface: client}, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false)})
			if err := row.do(c); err != nil {
				t.Fatal(err)
			}
			role, roleErr := client.RbacV1().Roles("acme").Get(t.Context(), "grant", metav1.GetOptions{})
			binding, bindingErr := client.RbacV1().RoleBindings("acme").Get(t.Context(), "grant", metav1.GetOptions{})
			if apierrors.IsNotFound(roleErr) != row.gone || apierrors.IsNotFound(bindingErr) != row.gone {
				t.Fatalf("got %v, %v", roleErr, bindingErr)
			}
			if !row.gone && len(role.Finalizers)+len(role.OwnerReferences)+len(binding.Finalizers)+len(binding.OwnerReferences) > 0 {
				t.Errorf("got %v, %v", role, binding)
			}
		})
	}
}

// One of the two that a tenant changes again and again does not keep the other.
func TestAConflictDoesNotKeepTheRestOfTheGrant(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "acme", Name: "grant", Labels: map[string]string{hnc.LabelViewRoot: "acme"}}
	client := fake.NewClientset(&rbacv1.Role{ObjectMeta: meta}, &rbacv1.RoleBinding{ObjectMeta: meta})
	client.PrependReactor("delete", "rolebindings", func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(rbacv1.Resource("rolebindings"), "grant", nil)
	})
	c := New(controller.Dependencies{Kubernetes: client, Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false)})
	if err := c.revoke(t.Context(), "acme", "grant"); err == nil {
		t.Error("no error")
	}
	if role, err := client.RbacV1().Roles("acme").Get(t.Context(), "grant", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, %v", role, err)
	}
}
