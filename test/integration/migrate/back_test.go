package migrate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/besidehnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// backSteps are those of the way back from the export.
var backSteps = []string{"freeze", "save", "policies", "stop", "quotas", "definitions", "switch", "objects", "forget", "import", "start", "webhooks", "unfreeze"}

func installPolicies(t *testing.T) {
	t.Helper()
	objects, err := cp.Render(t.Context(), "../../../artifacts/policies")
	if err == nil {
		err = cp.Apply(t.Context(), objects)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// goBack goes back to HNC after a completed migration, by a command that is killed in its steps, and checks that HNC
// has everything that the export has, and that hns waits beside it.
func goBack(t *testing.T, file string, every int) {
	t.Helper()
	ctx := t.Context()
	_, err := admin.HNC.HncV1beta1().Hierarchies("alone").Create(ctx, &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: root}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// As a chart or GitOps of HNC does; the others are created by the way back.
	leftovers, err := manifests("testdata/hnc.yaml", func(kind string) bool { return kind == "CustomResourceDefinition" })
	if err == nil {
		leftovers = slices.DeleteFunc(leftovers, func(o *unstructured.Unstructured) bool { return o.GetName() != besidehnc.Definition })
		err = cp.Apply(ctx, leftovers)
	}
	if err != nil || len(leftovers) != 1 {
		t.Fatalf("%v, %v", err, leftovers)
	}
	if out, err := plugin(t, "", "migrate", "rollback", "--yes"); err == nil || !strings.Contains(err.Error(), "name the export of the migration by --export") {
		t.Errorf("without the export: %v\n%s", err, out)
	}
	changes := "These have changed since the export, and HNC will make them what they are there, with the copies:\n" +
		`  namespace alone has the parent "` + root + `", and "" in the export` + "\nThe migration will:\n"
	if out := must(t, "migrate", "rollback", "--dry-run", "--export", file); !strings.HasPrefix(out, changes) {
		t.Errorf("not just the change since the export is listed:\n%s", out)
	}
	limitScope(t)
	// As hns-propagator's pods do when it is scaled to zero.
	if err := cp.StopProcess(ctx, "hns-propagator"); err != nil {
		t.Fatal(err)
	}
	for i, step := range backSteps {
		if i%every != 1%every || i == len(backSteps)-1 {
			continue
		}
		interrupt(t, step, "migrate", "rollback", "--yes", "--export", file)
		doctor(t, "a rollback from the export has begun")
	}
	awaitsHNC(t, "migrate", "rollback", "--yes", "--export", file)
	rolledBack(t)
	saved, err := filepath.Glob(strings.TrimSuffix(file, ".yaml") + "-hns-*.yaml")
	if err != nil || len(saved) != 1 {
		t.Fatalf("what hns-apiserver had is not in one file: %v, %v", saved, err)
	}
	if content, err := os.ReadFile(saved[0]); err != nil || !strings.Contains(string(content), "name: best-effort") {
		t.Errorf("the file of what hns-apiserver had: %v\n%s", err, content)
	}
	if scoped := scopedQuotas(t); len(scoped) > 0 {
		t.Errorf("ResourceQuotas of a quota with scopes are left: %v", scoped)
	}
	if d, err := admin.AppsV1().Deployments(hnc.SystemNamespace).Get(ctx, "hns-sync", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 0 {
		t.Errorf("hns-sync is not stopped: %v, %v", d, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var export struct {
		Items []unstructured.Unstructured `json:"items"`
	}
	if err := yaml.Unmarshal(content, &export); err != nil {
		t.Fatal(err)
	}
	for _, want := range export.Items {
		resource, ours := map[string]string{"HierarchyConfiguration": "hierarchyconfigurations", "SubnamespaceAnchor": "subnamespaceanchors",
			"HierarchicalResourceQuota": "hierarchicalresourcequotas", "HNCConfiguration": "hncconfigurations"}[want.GetKind()]
		if !ours {
			continue
		}
		got, err := admin.Dynamic.Resource(hierarchies.GroupVersion().WithResource(resource)).Namespace(want.GetNamespace()).Get(ctx, want.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Errorf("%s %s/%s: %v", resource, want.GetNamespace(), want.GetName(), err)
			continue
		}
		parent, _, _ := unstructured.NestedString(got.Object, "spec", "parent")
		if was, _, _ := unstructured.NestedString(want.Object, "spec", "parent"); was != parent {
			t.Errorf("%s %s/%s: the parent is %q, and %q in the export", resource, want.GetNamespace(), want.GetName(), parent, was)
		}
	}
	startPropagator(t)
	doctor(t, "not begun: HNC serves this cluster")
}

// limitScope creates a quota with scopes, which HNC does not have, and returns when it has ResourceQuotas.
func limitScope(t *testing.T) {
	t.Helper()
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "best-effort"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{
		Hard: hnc.ResourceList{corev1.ResourcePods: resource.MustParse("10")}, Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort},
	}}
	if _, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas(root).Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the quota with scopes is in force", func() error {
		if len(scopedQuotas(t)) < 2 {
			return errors.New("it has no ResourceQuotas in the tree")
		}
		return nil
	})
}

// scopedQuotas returns the namespaces with a ResourceQuota of a quota with scopes.
func scopedQuotas(t *testing.T) []string {
	t.Helper()
	list, err := admin.CoreV1().ResourceQuotas("").List(t.Context(), metav1.ListOptions{LabelSelector: hnc.LabelQuota + "=true"})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, q := range list.Items {
		if len(q.Spec.Scopes) > 0 {
			found = append(found, q.Namespace)
		}
	}
	return found
}
