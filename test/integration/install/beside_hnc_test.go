package install

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Helm takes over the APIServices that a migration from HNC has created with the labels and annotations of the chart's
// own.
func TestAMigratedReleaseCanBeUpgraded(t *testing.T) {
	ctx := t.Context()
	// The volume of an embedded etcd would stay for other tests.
	release := []string{"hns", chart, "--namespace=hns-system"}
	if _, err := command(t, "helm", append([]string{"install", "--create-namespace", "--set=besideHNC=true", "--set=image.registry=" + registry, "--set=apiserver.etcd.servers={https://etcd:2379}"}, release...)...); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := command(t, "helm", "uninstall", "hns", "--namespace=hns-system"); err != nil {
			t.Error(err)
		}
	}()
	services := admin.Dynamic.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	own, err := services.Get(ctx, "v1beta1.hnc.x-k8s.io", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := services.Get(ctx, "v1alpha2.hnc.x-k8s.io", metav1.GetOptions{}); err == nil {
		t.Fatal("the chart has an APIService that HNC's definitions have, too")
	}
	for name, spec := range map[string]map[string]any{
		"v1alpha2.hnc.x-k8s.io":           {"group": "hnc.x-k8s.io", "groupPriorityMinimum": int64(1000), "versionPriority": int64(100)},
		"v1alpha2.resources.hnc.x-k8s.io": {"group": "resources.hnc.x-k8s.io", "groupPriorityMinimum": int64(10), "versionPriority": int64(10)},
	} {
		created := own.DeepCopy()
		spec["version"], spec["service"] = "v1alpha2", own.Object["spec"].(map[string]any)["service"]
		created.Object["spec"] = spec
		created.SetName(name)
		created.SetResourceVersion("")
		created.SetUID("")
		created.SetManagedFields(nil)
		if _, err := services.Create(ctx, created, metav1.CreateOptions{FieldManager: "kubectl-hns-migrate"}); err != nil {
			t.Fatal(err)
		}
	}
	// Helm applies the field, too: with another value, the upgrade would be a conflict.
	prefer := func(priority int) {
		patch := fmt.Appendf(nil, `{"spec":{"versionPriority":%d}}`, priority)
		if _, err := services.Patch(ctx, "v1beta1.hnc.x-k8s.io", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-hns-migrate"}); err != nil {
			t.Fatal(err)
		}
	}
	prefer(200)
	if _, err := command(t, "helm", append([]string{"upgrade", "--reuse-values", "--set=besideHNC=false"}, release...)...); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, "copies.hnc.x-k8s.io", metav1.GetOptions{}); err != nil {
		t.Errorf("the policies: %v", err)
	}
	// As a rollback has left them.
	prefer(10)
	const list = "v1alpha2.resources.hnc.x-k8s.io"
	if _, err := services.Patch(ctx, list, types.MergePatchType, []byte(`{"metadata":{"annotations":{"helm.sh/resource-policy":"keep"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := services.Delete(ctx, list, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}()
	if _, err := command(t, "helm", append([]string{"upgrade", "--reuse-values", "--set=besideHNC=true"}, release...)...); err != nil {
		t.Fatal(err)
	}
	if _, err := services.Get(ctx, list, metav1.GetOptions{}); err != nil {
		t.Errorf("the server of HNC's lists: %v", err)
	}
	if _, err := services.Get(ctx, "v1alpha2.hnc.x-k8s.io", metav1.GetOptions{}); err == nil {
		t.Error("besideHNC=true keeps what a rollback has not restored")
	}
}
