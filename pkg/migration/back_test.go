package migration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func namespaceOf(name string, uid types.UID) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid}}
}

// child is the hierarchy of a namespace in HNC.
func child(namespace, parent string) *unstructured.Unstructured {
	return object("HierarchyConfiguration", namespace, hnc.Singleton, map[string]any{"parent": parent})
}

func ours(namespace, parent string) *v1beta1.Hierarchy {
	return &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
}

// A rollback takes the export of the migration, and of no other cluster.
func TestTheExportIsThatOfTheCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "export.yaml")
	rules := &v1beta1.Rules{ExcludedNamespaces: []string{"x"}}
	content, err := yaml.Marshal(&export{Namespaces: []namespace{{Name: "kube-system", UID: "one"}}, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Migration{Options: Options{File: file}, clients: fakeClients(t, namespaceOf("kube-system", "two"))}
	if _, err := m.beginBack(t.Context()); err == nil || !strings.Contains(err.Error(), "is not an export of this cluster") {
		t.Errorf("another cluster: %v", err)
	}
	m = &Migration{Options: Options{File: file}, clients: fakeClients(t, namespaceOf("kube-system", "one"))}
	if m.state, err = m.beginBack(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := m.state.backup.Rules; got == nil || len(got.ExcludedNamespaces) != 1 {
		t.Errorf("the rules from before the migration are not restored: %v", got)
	}
	if err := os.WriteFile(file, append(content, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	m.export = nil
	if _, err := m.exported(t.Context()); err == nil || !strings.Contains(err.Error(), "is not the export of this migration") {
		t.Errorf("another file than when the rollback began: %v", err)
	}
}

// A namespace that was deleted and created again may belong to others, and does not get what the former one had.
func TestWhatIsRestored(t *testing.T) {
	ctx := t.Context()
	out := &strings.Builder{}
	now := metav1.Now()
	ending, deleted := namespaceOf("ending", "6"), child("deleted", "acme")
	ending.DeletionTimestamp = &now
	deleted.SetDeletionTimestamp(&now)
	m := &Migration{Options: Options{Out: out}, clients: fakeClients(t, namespaceOf("acme", "1"), namespaceOf("kept", "2"), namespaceOf("anew", "other"), namespaceOf("lost", "5"), ending, namespaceOf("deleted", "7")), export: &export{
		Items:      []*unstructured.Unstructured{child("kept", "acme"), child("anew", "acme"), child("gone", "acme"), child("lost", "acme"), child("ending", "acme"), deleted, object("SubnamespaceAnchor", "acme", "kept", nil), object("SubnamespaceAnchor", "acme", "gone", nil)},
		Namespaces: []namespace{{Name: "acme", UID: "1"}, {Name: "kept", UID: "2"}, {Name: "anew", UID: "3"}, {Name: "gone", UID: "4"}, {Name: "lost", UID: "5"}, {Name: "ending", UID: "6"}, {Name: "deleted", UID: "7"}},
	}}
	hns := m.hierarchy.HncV1beta1()
	for _, h := range []*v1beta1.Hierarchy{ours("kept", "elsewhere"), ours("new", "acme"), ours("root", "")} {
		if _, err := hns.Hierarchies(h.Namespace).Create(ctx, h, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.describeChanges(ctx, m.export); err != nil {
		t.Fatal(err)
	}
	leftOut := `  hierarchyconfigurations anew/hierarchy: its namespace was deleted and created again
  hierarchyconfigurations deleted/hierarchy: it was being deleted
  hierarchyconfigurations ending/hierarchy: its namespace is being deleted
  hierarchyconfigurations gone/hierarchy: its namespace no longer exists
  subnamespaceanchors acme/gone: its sub-namespace no longer exists
`
	if want := `These have changed since the export, and HNC will make them what they are there, with the copies:
  namespace kept has the parent "elsewhere", and "acme" in the export
  namespace lost has the parent "", and "acme" in the export
  namespace new has the parent "acme", and "" in the export
These are not restored:
` + leftOut; out.String() != want {
		t.Errorf("got %s\nwant %s", out, want)
	}
	out.Reset()
	if err := m.createObjects(ctx); err != nil {
		t.Fatal(err)
	}
	if want := "Not restored:\n" + leftOut; out.String() != want {
		t.Errorf("got %s\nwant %s", out, want)
	}
	for name, want := range map[string]bool{"kept": true, "lost": true, "anew": false, "gone": false, "ending": false, "deleted": false} {
		_, err := m.dynamic.Resource(hncResource(hierarchyConfigurations)).Namespace(name).Get(ctx, hnc.Singleton, metav1.GetOptions{})
		if gone(err) != nil || apierrors.IsNotFound(err) == want {
			t.Errorf("%s: restored: %v, want %t", name, err, want)
		}
	}
}

func TestChangesSinceTheExport(t *testing.T) {
	quota := func(pods string) v1beta1.HierarchicalResourceQuotaSpec {
		return v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}}
	}
	before, now := specsOf([]v1beta1.ResourceSpec{{Resource: "secrets", Mode: v1beta1.Propagate}}), specsOf([]v1beta1.ResourceSpec{{Group: "example.com", Resource: "widgets"}})
	before["hierarchicalresourcequotas a/same"], now["hierarchicalresourcequotas a/same"] = quota("1000m"), quota("1")
	before["hierarchicalresourcequotas a/changed"], now["hierarchicalresourcequotas a/changed"] = quota("1"), quota("2")
	before["hierarchies a"], now["hierarchies a"] = v1beta1.HierarchySpec{Parent: "b"}, v1beta1.HierarchySpec{Parent: "b", AllowCascadingDeletion: ptr.To(true)}
	now["hierarchies root"] = v1beta1.HierarchySpec{AllowCascadingDeletion: ptr.To(true)}
	now["subnamespaces a/new"] = v1beta1.SubnamespaceSpec{}
	want := "hierarchicalresourcequotas a/changed differs from the export\nhierarchies a differs from the export\nhierarchies root differs from the export\nkind secrets exists only in the export\n" +
		"kind widgets.example.com is not in the export\nsubnamespaces a/new is not in the export"
	if got := strings.Join(changes(before, now), "\n"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// What only hns-apiserver has is in a file before it is removed.
func TestWhatIsRemovedIsSaved(t *testing.T) {
	ctx := t.Context()
	c := fakeClients(t)
	_, m := twoProcesses(t, c)
	out := &strings.Builder{}
	dir := t.TempDir()
	m.Out, m.File = out, filepath.Join(dir, "export.yaml")
	for i, o := range []*unstructured.Unstructured{child("a", "b"), child("c", "d")} {
		o.SetAPIVersion(v1beta1.SchemeGroupVersion.String())
		o.SetKind("Hierarchy")
		if _, err := c.dynamic.Resource(v1beta1.SchemeGroupVersion.WithResource("hierarchies")).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := m.saveOwn(ctx); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "export-hns-*.yaml"))
		if err != nil || len(files) != 1 || strings.Count(out.String(), "What hns-apiserver has is in "+files[0]+".\n") != i+1 {
			t.Fatalf("%v, %v\n%s", files, err, out)
		}
		content, err := os.ReadFile(files[0])
		if err != nil || !strings.Contains(string(content), "parent: b") || strings.Contains(string(content), "parent: d") {
			t.Errorf("got %s, %v", content, err)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others can read it: %v, %v", info, err)
		}
	}
}

// A rollback restores the rules and the replicas from before the migration.
func TestRulesAndReplicasFromBefore(t *testing.T) {
	ctx := t.Context()
	c := fakeClients(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: hnc.SystemNamespace, Name: hnc.PropagatorName}})
	withReplicas(c, map[string]int32{hnc.PropagatorName: 2})
	configuration := &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: v1beta1.HNCConfigurationSpec{Rules: &v1beta1.Rules{DroppedLabels: []string{"x"}}}}
	if _, err := c.hierarchy.HncV1beta1().HNCConfigurations().Create(ctx, configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, m := twoProcesses(t, c)
	if m.state.backup.Propagator != 2 {
		t.Errorf("hns-propagator gets %d replicas", m.state.backup.Propagator)
	}
	if err := c.setRules(ctx, &v1beta1.Rules{DroppedLabels: []string{"of the migration"}}); err != nil {
		t.Fatal(err)
	}
	if err := m.reset(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil || got.Spec.Rules == nil || got.Spec.Rules.DroppedLabels[0] != "x" {
		t.Errorf("got %v, %v", got.Spec.Rules, err)
	}
}

// withReplicas makes Deployments have replicas.
func withReplicas(c *clients, replicas map[string]int32) {
	c.kube.(*fake.Clientset).PrependReactor("get", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		n, ok := replicas[action.(clienttesting.GetAction).GetName()]
		return ok && action.GetSubresource() == "scale", &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}, nil
	})
}
