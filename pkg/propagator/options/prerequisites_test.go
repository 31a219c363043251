package options

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestAClusterWithoutPoliciesIsRejected(t *testing.T) {
	for want, served := range map[string][]string{
		"": {"validatingadmissionpolicies", "mutatingadmissionpolicies"},
		"does not serve mutatingadmissionpolicies":   {"validatingadmissionpolicies", "validatingwebhookconfigurations"},
		"does not serve validatingadmissionpolicies": {"validatingwebhookconfigurations"},
	} {
		client := fake.NewClientset().Discovery().(*fakediscovery.FakeDiscovery)
		list := &metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1"}
		for _, name := range served {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
		client.Resources = []*metav1.APIResourceList{list}
		err := requirePolicies(t.Context(), client)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "upgrade the cluster")) {
			t.Errorf("%v: got %v, want %q", served, err, want)
		}
	}
	// The whole group is missing in old clusters.
	client := fake.NewClientset().Discovery().(*fakediscovery.FakeDiscovery)
	client.Resources = nil
	if err := requirePolicies(t.Context(), client); err == nil {
		t.Error("a cluster without the group is accepted")
	}
}

func TestAClusterThatDoesNotAnswerIsNotRejected(t *testing.T) {
	kube := fake.NewClientset()
	kube.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no answer") })
	if err := requirePolicies(t.Context(), kube.Discovery()); err != nil {
		t.Error(err)
	}
}
