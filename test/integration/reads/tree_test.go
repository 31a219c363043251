package reads

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func (u user) tree(t *testing.T, namespace string) (*v1alpha3.HierarchyTree, error) {
	t.Helper()
	return u.HNC.HncV1beta1().Hierarchies(namespace).GetTree(t.Context(), hnc.Singleton, metav1.GetOptions{})
}

// printTree returns a line for each node of a tree.
func printTree(answer *v1alpha3.HierarchyTree) string {
	var lines []string
	for _, n := range answer.Nodes {
		line := fmt.Sprintf("%d %s(%s) %s", n.Depth, n.Name, n.Parent, n.Kind)
		if n.AllowCascadingDeletion {
			line += " cascading"
		}
		for _, c := range n.Conditions {
			line += fmt.Sprintf(" %s=%s(%s)", c.Type, c.Status, c.Reason)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestATreeIsOneAnswer(t *testing.T) {
	namespaces(t, "acme", "team-b", "team-a", "orphan", "lost", "below")
	setParent(t, "team-b", "acme")
	setParent(t, "team-a", "acme")
	setParent(t, "orphan", "lost")
	setParent(t, "below", "orphan")
	subnamespace(t, "team-a", "service-1")
	yes := true
	h, err := root.HNC.HncV1beta1().Hierarchies("team-a").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "team-a allows cascading deletion", func() error {
		h.Spec.AllowCascadingDeletion = &yes
		_, err := root.HNC.HncV1beta1().Hierarchies("team-a").Update(t.Context(), h, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			h, err = root.HNC.HncV1beta1().Hierarchies("team-a").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
			return fmt.Errorf("conflict: %w", err)
		}
		return err
	})
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "lost", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"acme": `
0 acme() Full
1 team-a(acme) Full cascading
2 service-1(team-a) Subnamespace
1 team-b(acme) Full`,
		"service-1": `
0 service-1(team-a) Subnamespace`,
		"default": `
0 default() Full`,
		"orphan": `
0 orphan(lost) Full ActivitiesHalted=True(ParentMissing) Ready=False(ParentMissing)
1 below(orphan) Full ActivitiesHalted=True(AncestorHaltActivities) Ready=False(AncestorHaltActivities)`,
	} {
		suite.Eventually(t, "the tree of "+name, func() error {
			answer, err := root.tree(t, name)
			if err != nil {
				return err
			}
			if got := printTree(answer); got != strings.TrimSpace(want) {
				return fmt.Errorf("got\n%s\nwant%s", got, want)
			}
			return nil
		})
	}
	if _, err := root.tree(t, "nowhere"); !apierrors.IsNotFound(err) {
		t.Errorf("the tree of a namespace that does not exist: %v", err)
	}
	if _, err := root.HNC.HncV1beta1().Hierarchies("acme").GetTree(t.Context(), "another", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a tree of another name: %v", err)
	}
}

// What was committed before the request is in the answer.
func TestATreeHasWhatWasJustWritten(t *testing.T) {
	namespaces(t, "busy")
	for i := range 50 {
		name := fmt.Sprintf("busy-%02d", i)
		namespaces(t, name)
		setParent(t, name, "busy")
		answer, err := root.tree(t, "busy")
		if err != nil {
			t.Fatal(err)
		}
		if got := len(answer.Nodes); got != i+2 {
			t.Fatalf("got %d nodes, want %d:\n%s", got, i+2, printTree(answer))
		}
	}
}

func TestATreeTakesItsOwnPermission(t *testing.T) {
	namespaces(t, "permissions", "permissions-below")
	setParent(t, "permissions-below", "permissions")
	rule := func(resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: resources, Verbs: []string{"get"}}
	}
	role(t, "hierarchies-only", rule("hierarchies", "hierarchies/status"))
	role(t, "trees-only", rule("hierarchies/tree"))
	for _, test := range []struct {
		role string
		may  bool
	}{{"view", true}, {"edit", true}, {"admin", true}, {"trees-only", true}, {"hierarchies-only", false}} {
		name := "tree-" + test.role
		u := newUser(t, name)
		if _, err := u.tree(t, "permissions"); !apierrors.IsForbidden(err) {
			t.Errorf("%s before the binding: %v", test.role, err)
		}
		bind(t, "permissions", test.role, name)
		suite.Eventually(t, test.role, func() error {
			answer, err := u.tree(t, "permissions")
			if !test.may {
				if _, err := u.HNC.HncV1beta1().Hierarchies("permissions").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + hnc.Singleton}); err == nil {
					return fmt.Errorf("may list hierarchies")
				}
				if _, other := u.HNC.HncV1beta1().Hierarchies("permissions").Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); apierrors.IsForbidden(other) {
					return other // the binding is not known yet
				}
				if !apierrors.IsForbidden(err) {
					return fmt.Errorf("want Forbidden, got %w", err)
				}
				return nil
			}
			if err != nil {
				return err
			}
			// Below, the user has no permissions in person unless the binding is propagated, but the names are shown.
			if len(answer.Nodes) != 2 {
				return fmt.Errorf("got %d nodes", len(answer.Nodes))
			}
			return nil
		})
	}
}
