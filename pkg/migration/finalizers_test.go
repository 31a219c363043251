package migration

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Users may set HNC's finalizers on any of its kinds, and each would keep a definition from being deleted.
func TestFinalizersOfAllKindsAreRemoved(t *testing.T) {
	m := &Migration{clients: fakeClients(t,
		object("HierarchicalResourceQuota", "a", "budget", nil, finalizers...), object("HNCConfiguration", "", "config", nil, finalizers...),
		object("SubnamespaceAnchor", "a", "b", nil, finalizers...), object("HierarchyConfiguration", "a", "hierarchy", nil, finalizers...))}
	if err := m.removeFinalizers(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, resource := range hncResources {
		objects, err := m.list(t.Context(), hncResource(resource))
		if err != nil || len(objects) != 1 || len(objects[0].GetFinalizers()) > 0 {
			t.Errorf("%s: %v, %v", resource, objects, err)
		}
	}
}

// A definition that is being deleted is no definition that HNC can use, and only who removes the finalizers can help.
func TestDefinitionsThatAreBeingDeleted(t *testing.T) {
	name := quotas + "." + hnc.GroupName
	definition := object("CustomResourceDefinition", "", name, map[string]any{})
	deleted := definition.DeepCopy()
	deleted.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
	now := metav1.Now()
	deleted.SetDeletionTimestamp(&now)
	m := &Migration{
		clients: fakeClients(t, deleted, apiService(currentService), apiService(hncService), object("HierarchicalResourceQuota", "a", "budget", nil, "hnc.x-k8s.io"), object("HierarchicalResourceQuota", "b", "other", nil)),
		export:  &export{Items: []*unstructured.Unstructured{definition}},
		state:   &state{},
	}
	err := m.createDefinitions(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is being deleted") || !strings.HasSuffix(err.Error(), "remove these finalizers:\n  hierarchicalresourcequotas a/budget: hnc.x-k8s.io") {
		t.Errorf("got %v", err)
	}
}

func apiService(name string) *unstructured.Unstructured {
	o := object("APIService", "", name, nil)
	o.SetAPIVersion(hnc.APIServiceResource.GroupVersion().String())
	return o
}
