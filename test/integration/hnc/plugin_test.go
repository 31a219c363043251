package hnc

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// servesOldPlugin checks that HNC's own plugin works in the migrated cluster, also if a change follows another at once:
// the status may be written between its read and its write, which it has to repeat then, as with HNC.
func servesOldPlugin(t *testing.T) {
	t.Helper()
	kubectl(t, "", "create", "namespace", "moved")
	conflicts := 0
	old := func(line, want string) {
		t.Helper()
		var out string
		for {
			var err error
			out, err = execute(t, plugin+" "+line, "", "")
			if err == nil {
				break
			}
			if !strings.Contains(out, "the object has been modified") || conflicts == 10 {
				t.Fatal(err)
			}
			conflicts++
		}
		if !strings.Contains(out, want) {
			t.Errorf("%s prints %q, want %q", line, out, want)
		}
	}
	parent := func(want string) {
		t.Helper()
		h, err := admin.Dynamic.Resource(hierarchies).Namespace("moved").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := unstructured.NestedString(h.Object, "spec", "parent"); err != nil || got != want {
			t.Errorf("moved has the parent %q, want %q: %v", got, want, err)
		}
	}
	old("create made -n acme", `Successfully created "made" subnamespace anchor in "acme" namespace`)
	old("set moved --parent acme", "Setting the parent of moved to acme")
	old("set moved --parent globex", "Changing the parent of moved from acme to globex")
	parent("globex")
	old("tree acme", "made")
	old("describe moved", "Parent: globex")
	old("config describe", "configmaps")
	old("set moved --root", "Unsetting the parent of moved (was previously globex)")
	parent("")
	t.Logf("%d conflicts of HNC's plugin", conflicts)
}

// freesAPIServices checks that after a rollback no object of HNC claims to be of the Helm release of hns: the next
// upgrade of that release would delete it.
func freesAPIServices(t *testing.T) {
	t.Helper()
	list, err := admin.Dynamic.Resource(apiServices).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range list.Items {
		if version, group, _ := strings.Cut(service.GetName(), "."); version != "v1alpha2" || !strings.HasSuffix(group, hnc.GroupName) {
			continue
		}
		for key := range service.GetAnnotations() {
			if strings.HasPrefix(key, "meta.helm.sh/") {
				t.Errorf("apiservice %s has the annotation %s", service.GetName(), key)
			}
		}
		if by := service.GetLabels()["app.kubernetes.io/managed-by"]; by != "" {
			t.Errorf("apiservice %s is managed by %s", service.GetName(), by)
		}
	}
}
