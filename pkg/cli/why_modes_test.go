package cli

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// The status spells kinds as the configuration does.
func TestModesOfAKindInAnySpelling(t *testing.T) {
	f := discovering(t, map[string]any{
		"/api": metav1.APIVersions{Versions: []string{"v1"}}, "/apis": metav1.APIGroupList{},
		"/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "secrets", SingularName: "secret", Kind: "Secret", Namespaced: true, Verbs: metav1.Verbs{"list"}},
			{Name: "configmaps", SingularName: "configmap", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"list"}},
		}},
		"/apis/hnc.x-k8s.io/v1beta1/hncconfigurations/config": v1beta1.HNCConfiguration{
			Spec: v1beta1.HNCConfigurationSpec{OnConflict: v1beta1.Keep, Resources: []v1beta1.ResourceSpec{
				{Resource: "Secret", Mode: v1beta1.Propagate}, {Resource: "configmaps"},
			}},
			Status: v1beta1.HNCConfigurationStatus{Resources: []v1beta1.ResourceStatus{{Version: "v1", Resource: "Secret", Mode: v1beta1.AllowPropagate}}},
		},
	})
	c, err := f.Clients()
	if err != nil {
		t.Fatal(err)
	}
	mapper, err := f.mapper()
	if err != nil {
		t.Fatal(err)
	}
	hierarchies := map[string]*v1beta1.Hierarchy{
		"mid": {Spec: v1beta1.HierarchySpec{Propagation: []v1beta1.ResourceSpec{{Resource: "SECRETS", Mode: "Copy"}, {Resource: "secrets"}}}},
		"top": {},
	}
	chain := func(resource string) []origin.Namespace {
		q := &origin.Question{Resource: schema.GroupResource{Resource: resource}, Chain: []origin.Namespace{{Name: "here"}, {Name: "mid"}, {Name: "top"}}}
		if err := readModes(t.Context(), c, mapper, q, hierarchies); err != nil {
			t.Fatal(err)
		}
		return q.Chain
	}
	kept := func(mode v1beta1.SynchronizationMode) origin.Mode {
		return origin.Mode{Policy: modes.Policy{Mode: mode, Keep: true}}
	}
	secrets := chain("secrets")
	for i, want := range []origin.Mode{kept(v1beta1.Ignore), kept(v1beta1.Ignore), kept(v1beta1.AllowPropagate)} {
		if secrets[i].Mode != want {
			t.Errorf("secrets in %s: got %v, want %v", secrets[i].Name, secrets[i].Mode, want)
		}
	}
	if mode := chain("configmaps")[0].Mode; mode.Mode != "" || mode.Unread == "" {
		t.Errorf("listed without effect: got %v", mode)
	}
}
