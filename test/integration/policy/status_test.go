package policy

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kube-controller-manager checks the expressions against the schemas of the kinds that they apply to, and warns in the
// status.
func TestExpressionsFitTheKindsThatTheyApplyTo(t *testing.T) {
	policies := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	list, err := policies.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) == 0 {
		t.Fatal("no policies are installed")
	}
	for _, policy := range list.Items {
		t.Run(policy.Name, func(t *testing.T) {
			eventually(t, "the policy is checked", func(ctx context.Context) (bool, error) {
				checked, err := policies.Get(ctx, policy.Name, metav1.GetOptions{})
				if err != nil || checked.Status.TypeChecking == nil || checked.Status.ObservedGeneration != checked.Generation {
					return false, err
				}
				for _, warning := range checked.Status.TypeChecking.ExpressionWarnings {
					t.Errorf("%s: %s", warning.FieldRef, warning.Warning)
				}
				return true, nil
			})
		})
	}
}
