package servers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// An administrator's policy that names a resource by one of its names holds under the other name too: otherwise
// everybody could get around it. One that says it wants that very name gets what it says.
func TestAPolicyOnOneNameHoldsForTheOther(t *testing.T) {
	pairs := [][2]name{
		{hierarchies, configurations}, {configurations, hierarchies},
		{subnamespaces, anchors}, {anchors, subnamespaces},
	}
	for _, pair := range pairs {
		for _, match := range []admissionregistrationv1.MatchPolicyType{"", admissionregistrationv1.Exact} {
			named, other := pair[0], pair[1]
			t.Run(fmt.Sprintf("%s, %s", named.Resource, match), func(t *testing.T) {
				t.Parallel()
				namespace := strings.ToLower("policy-" + named.Resource + string(match))
				createNamespaces(t, namespace, namespace+"-fresh")
				object := hnc.Singleton
				if named == subnamespaces || named == anchors {
					object = "below-" + named.Resource + strings.ToLower(string(match))
				}
				// There before the policy, so that there is something to change and to delete.
				if object != hnc.Singleton {
					t.Cleanup(func() { abandon(t, namespace, object) })
				}
				existing := other.object(namespace, object, map[string]any{})
				if _, err := admin.at(t, 0).dynamic.Resource(other.GroupVersionResource).Namespace(namespace).Create(t.Context(), existing, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				forbidLabel(t, named, namespace, match)

				for replica := range replicas {
					client := admin.at(t, replica).dynamic
					write := func(n name) error {
						_, err := client.Resource(n.GroupVersionResource).Namespace(namespace).Patch(t.Context(), object,
							types.MergePatchType, []byte(`{"metadata":{"labels":{"forbidden":"true"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
						return err
					}
					eventually(t, "the policy takes effect", func() error {
						if err := write(named); !refusedByPolicy(err) {
							return fmt.Errorf("got %w, want a refusal by the policy", err)
						}
						return nil
					})
					check := func(verb string, err error) {
						if match == "" && !refusedByPolicy(err) {
							t.Errorf("replica %d, %s of %s: got %v, want a refusal by the policy on %s", replica, verb, other.Resource, err, named.Resource)
						}
						if match != "" && err != nil {
							t.Errorf("replica %d, %s of %s: %v, though the policy is on %s exactly", replica, verb, other.Resource, err, named.Resource)
						}
					}
					check("update", write(other))
					_, err := client.Resource(other.GroupVersionResource).Namespace(namespace).Patch(t.Context(), object, types.ApplyPatchType,
						[]byte(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"labels":{"forbidden":"true"}}}`, other.GroupVersion(), other.kind)),
						metav1.PatchOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}})
					check("apply", err)
					fresh := other.object(namespace+"-fresh", object, map[string]any{})
					fresh.SetLabels(map[string]string{"forbidden": "true"})
					if object != hnc.Singleton {
						fresh.SetName(object + "-fresh")
					}
					_, err = client.Resource(other.GroupVersionResource).Namespace(fresh.GetNamespace()).Create(t.Context(), fresh, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
					check("create", err)
					check("delete", client.Resource(other.GroupVersionResource).Namespace(namespace).Delete(t.Context(), object, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
				}
			})
		}
	}
}

func refusedByPolicy(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
}

// forbidLabel has a policy forbid, in a namespace and in the one for fresh objects, all deletions and the label
// "forbidden" on objects of the named resource.
func forbidLabel(t *testing.T, n name, namespace string, match admissionregistrationv1.MatchPolicyType) {
	t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{n.Group}, APIVersions: []string{n.Version}, Resources: []string{n.Resource},
					},
				}}},
				NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
					Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: []string{namespace, namespace + "-fresh"},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("object != null && object.kind == %q && !('forbidden' in object.metadata.?labels.orValue({}))", n.kind),
			}},
		},
	}
	if match != "" {
		policy.Spec.MatchConstraints.MatchPolicy = &match
	}
	client := admin.AdmissionregistrationV1()
	if _, err := client.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: namespace, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	if _, err := client.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.ValidatingAdmissionPolicies().Delete(context.Background(), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}
