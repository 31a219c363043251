package servers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A placement needs the rights of the same move made alone.
func TestPlacementsNeedTheRightsOfTheirMoves(t *testing.T) {
	destinations := map[string]string{
		"AUTH-2 a root gets a parent":                      "new",
		"AUTH-5 a child becomes a root":                    "",
		"AUTH-6 to another tree":                           "new",
		"AUTH-7 CASE-1 to another branch of the same tree": "new",
	}
	tested := 0
	for i, r := range rules {
		parent, ok := destinations[r.name]
		if !ok {
			continue
		}
		tested++
		r.act = func(u *user, t *testing.T, _ name, prefix string) error {
			to := parent
			if to != "" {
				to = prefix + to
			}
			_, err := u.moveAll(t, metav1.CreateOptions{}, under(prefix+"child", to)...)
			return err
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t, fmt.Sprintf("placement-%d-", i))
		})
	}
	if tested != len(destinations) {
		t.Errorf("%d rules of %d", tested, len(destinations))
	}
}

// One placement that its requester may not make forbids all of them, and shows nothing of namespaces that the requester has no rights in.
func TestOneForbiddenPlacementForbidsAll(t *testing.T) {
	createNamespaces(t, "forbidden-own", "forbidden-a", "forbidden-b", "forbidden-other", "forbidden-others")
	if err := admin.apply(t, hierarchies, "forbidden-other", "forbidden-others"); err != nil {
		t.Fatal(err)
	}
	u := newAccount(t, "forbidden")
	u.grant(t, fullAdmin, "forbidden-own", "forbidden-a", "forbidden-b")
	for route, client := range map[string]*user{"through kube-apiserver": u, "directly": u.at(t, 1)} {
		for what, pairs := range map[string][]string{
			"a namespace of others":             {"forbidden-a", "forbidden-own", "forbidden-other", "forbidden-own"},
			"a parent of others":                {"forbidden-a", "forbidden-own", "forbidden-b", "forbidden-others"},
			"what is so already":                {"forbidden-other", "forbidden-others"},
			"what is so not":                    {"forbidden-other", "forbidden-own"},
			"a cycle of others":                 {"forbidden-others", "forbidden-other"},
			"a missing namespace":               {"forbidden-missing", "forbidden-own"},
			"a missing parent":                  {"forbidden-a", "forbidden-missing"},
			"a parent of others by another way": {"forbidden-other", "forbidden-a", "forbidden-a", "forbidden-own"},
		} {
			_, err := client.moveAll(t, metav1.CreateOptions{}, under(pairs...)...)
			if !apierrors.IsForbidden(err) {
				t.Errorf("%s, %s: got %v, want Forbidden", route, what, err)
			}
			if err != nil && strings.Contains(err.Error(), "descendant") {
				t.Errorf("%s, %s: the error describes a tree of others: %v", route, what, err)
			}
		}
		checkParents(t, "forbidden-a", "", "forbidden-b", "", "forbidden-other", "forbidden-others")
	}
	if _, err := u.moveAll(t, metav1.CreateOptions{}, under("forbidden-b", "forbidden-a", "forbidden-a", "forbidden-own")...); err != nil {
		t.Error(err)
	}
	checkParents(t, "forbidden-a", "forbidden-own", "forbidden-b", "forbidden-a")
}

// A placement does not depend on the order in which others of the request leave the tree: the namespace stays in the subtree of its admin.
func TestPlacementsAreAuthorizedOnTheTreeAsItIs(t *testing.T) {
	createNamespaces(t, "shrinking-root", "shrinking-branch", "shrinking-child", "shrinking-beside", "shrinking-other", "shrinking-below")
	tree := []string{"shrinking-branch", "shrinking-root", "shrinking-beside", "shrinking-root", "shrinking-child", "shrinking-branch", "shrinking-below", "shrinking-other"}
	if _, err := admin.moveAll(t, metav1.CreateOptions{}, under(tree...)...); err != nil {
		t.Fatal(err)
	}
	u := newAccount(t, "shrinking")
	// Not of shrinking-other, the root of the tree that the branch joins.
	u.grant(t, fullAdmin, "shrinking-root", "shrinking-branch", "shrinking-child", "shrinking-beside", "shrinking-below")
	want := []string{"shrinking-branch", "shrinking-below", "shrinking-child", "shrinking-beside"}
	if _, err := u.moveAll(t, metav1.CreateOptions{}, under(want...)...); err != nil {
		t.Error(err)
	}
	checkParents(t, want...)
}

// Administrators' policies on hierarchies hold for placements, under either name of the resource, for hierarchies that exist and for new ones.
func TestPoliciesOnHierarchiesHoldForPlacements(t *testing.T) {
	for _, n := range bothHierarchies {
		t.Run(n.Resource, func(t *testing.T) {
			t.Parallel()
			prefix := "governed-" + n.Resource
			createNamespaces(t, prefix, prefix+"-new", prefix+"-old", prefix+"-free")
			if err := admin.apply(t, hierarchies, prefix+"-old", ""); err != nil {
				t.Fatal(err)
			}
			forbidParents(t, n, prefix)
			for _, child := range []string{"-new", "-old"} {
				for replica := range replicas {
					eventually(t, "the policy takes effect", func() error {
						_, err := admin.at(t, replica).moveAll(t, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}},
							under(prefix+child, prefix, prefix+"-free", prefix)...)
						if !refusedByPolicy(err) {
							return fmt.Errorf("got %w, want a refusal by the policy", err)
						}
						return nil
					})
				}
				_, err := admin.at(t, 0).moveAll(t, metav1.CreateOptions{}, under(prefix+child, prefix, prefix+"-free", prefix)...)
				if !refusedByPolicy(err) || !strings.Contains(err.Error(), "spec.placements[0]") || strings.Contains(err.Error(), "spec.placements[1]") {
					t.Errorf("%s: got %v, want a refusal of the first placement by the policy", child, err)
				}
			}
			checkParents(t, prefix+"-new", "", prefix+"-old", "", prefix+"-free", "")
		})
	}
}

// forbidParents has a policy forbid parents in two namespaces.
func forbidParents(t *testing.T, n name, prefix string) {
	t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: prefix},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{n.Group}, APIVersions: []string{n.Version}, Resources: []string{n.Resource}},
				}}},
				NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
					Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: []string{prefix + "-new", prefix + "-old"},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "object.spec.?parent.orValue('') == ''"}},
		},
	}
	client := admin.AdmissionregistrationV1()
	if _, err := client.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: prefix},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: prefix, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	if _, err := client.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.ValidatingAdmissionPolicies().Delete(context.Background(), prefix, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}
