package children

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// orphan makes a namespace whose parent is gone.
func orphan(t *testing.T, name, parent string) {
	t.Helper()
	namespaces(t, name, parent)
	if err := root.hierarchy(t, name, below(parent)); err != nil {
		t.Fatal(err)
	}
	if err := root.CoreV1().Namespaces().Delete(t.Context(), parent, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, name, hnc.ReasonParentMissing)
}

// A user with edit in a namespace creates the missing parent of somebody else's namespace as a sub-namespace of their
// own, so that their RoleBindings flow into it.
func TestAMissingParentIsNotClaimedWithoutItsChildren(t *testing.T) {
	orphan(t, "adopted", "adopted-gone")
	namespaces(t, "adopter")
	mallory := newUser(t, "mallory-adopter")
	mallory.bind(t, "adopter", "edit")
	mallory.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", "adopter", "")
	mallory.eventuallyMay(t, "patch", hnc.GroupName, "subnamespaceanchors", "adopter", "")

	says := []string{`namespace "adopted-gone" does not exist but is the parent of existing namespaces`, "update on hierarchies.hnc.x-k8s.io", `user "mallory-adopter"`, "choose another name"}
	claim := func(dry ...string) error {
		_, err := mallory.HNC.HncV1beta1().Subnamespaces("adopter").Create(t.Context(),
			&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "adopted-gone"}}, metav1.CreateOptions{DryRun: dry})
		return err
	}
	refused(t, "v1beta1", claim(), apierrors.IsForbidden, says...)
	refused(t, "v1beta1, dry run", claim(metav1.DryRunAll), apierrors.IsForbidden, says...)
	_, err := mallory.HNC.HncV1alpha2().SubnamespaceAnchors("adopter").Create(t.Context(),
		&v1alpha2.SubnamespaceAnchor{ObjectMeta: metav1.ObjectMeta{Name: "adopted-gone"}}, metav1.CreateOptions{})
	refused(t, "v1alpha2", err, apierrors.IsForbidden, says...)
	applied := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta1.SchemeGroupVersion.String(), "kind": "Subnamespace", "metadata": map[string]any{"name": "adopted-gone"},
	}}
	_, err = mallory.Dynamic.Resource(v1beta1.SchemeGroupVersion.WithResource("subnamespaces")).Namespace("adopter").
		Apply(t.Context(), "adopted-gone", applied, metav1.ApplyOptions{FieldManager: "mallory"})
	refused(t, "server-side apply", err, apierrors.IsForbidden, says...)

	mallory.admin(t, "adopter")
	refused(t, "a required child", mallory.hierarchy(t, "adopter", requires("adopted-gone")), apierrors.IsForbidden, "spec.requiredChildren[0]", says[0])

	mallory.admin(t, "adopted")
	// The server remembers for some seconds that it was denied.
	suite.Eventually(t, "an admin of the child claims the name", func() error { return claim() })
	ancestryIs(t, "adopted", "adopted", "adopted-gone", "adopter")
}

// What is required waits while activities are halted, and the permissions of its requester were checked long ago.
func TestARequiredChildAdoptsNobody(t *testing.T) {
	namespaces(t, "waiting", "waiting-parent")
	if err := root.hierarchy(t, "waiting", below("waiting-parent")); err != nil {
		t.Fatal(err)
	}
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "waiting-parent", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "waiting", hnc.ReasonParentMissing)
	mallory := newUser(t, "mallory-waiting")
	mallory.admin(t, "waiting")
	if err := mallory.hierarchy(t, "waiting", requires("waiting-child")); err != nil {
		t.Fatal(err)
	}
	orphan(t, "awaited", "waiting-child")
	if err := mallory.hierarchy(t, "waiting", below("")); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "waiting", hnc.ReasonRequiredChildRefused, `"waiting-child"`, "is the parent of existing namespaces")
	if _, err := root.CoreV1().Namespaces().Get(t.Context(), "waiting-child", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it was created: %v", err)
	}
}

// A user who may create namespaces creates the missing parent itself: it is the parent that was named.
func TestANamespaceOfTheNameHealsOrphans(t *testing.T) {
	orphan(t, "healed", "healer")
	operator := newUser(t, "operator-healer")
	operator.grant(t, "", "create /namespaces")
	if _, err := operator.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "healer"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "healed", "healed", "healer")
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "flows"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
	if _, err := root.RbacV1().RoleBindings("healer").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the RoleBinding has flowed down", func() error {
		_, err := root.RbacV1().RoleBindings("healed").Get(context.WithoutCancel(t.Context()), "flows", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}

// With a creator role, an editor of an orphan would be the admin of a namespace that the policy from above does not
// reach.
func TestNoSubnamespaceIsCreatedBelowAnOrphan(t *testing.T) {
	namespaces(t, "unreached-deep")
	orphan(t, "unreached", "unreached-gone")
	if err := root.hierarchy(t, "unreached-deep", below("unreached")); err != nil {
		t.Fatal(err)
	}
	withCreatorRole(t, "admin")
	mallory := newUser(t, "mallory-unreached")
	for _, parent := range []string{"unreached", "unreached-deep"} {
		mallory.bind(t, parent, "edit")
		mallory.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", parent, "")
		_, err := mallory.subnamespace(t, parent, parent+"-new")
		refused(t, "below "+parent, err, apierrors.IsForbidden, "metadata.namespace", `nothing is propagated to namespace "`+parent+`"`,
			`the parent of namespace "unreached" does not exist`, `give "unreached" another one first`)
	}
	if err := root.hierarchy(t, "unreached", below("")); err != nil {
		t.Fatal(err)
	}
	if _, err := mallory.subnamespace(t, "unreached-deep", "unreached-deep-new"); err != nil {
		t.Errorf("after the orphan became a root: %v", err)
	}
}
