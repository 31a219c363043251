package repository

import (
	"os"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// TestSampleRepositoryDeclaresPolicyTypes reads the NetworkPolicy of the sample: its rules apply to nothing if a tenant
// can set the types.
func TestSampleRepositoryDeclaresPolicyTypes(t *testing.T) {
	text, err := os.ReadFile("../../artifacts/sample-repository/namespaces/network-policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	policy := &networkingv1.NetworkPolicy{}
	if err := yaml.UnmarshalStrict(text, policy); err != nil || len(policy.Spec.PolicyTypes) == 0 {
		t.Errorf("got %v, %v", policy.Spec.PolicyTypes, err)
	}
}
