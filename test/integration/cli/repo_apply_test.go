package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// write makes files below a directory; an empty one is removed.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(dir, name)
		var err error
		if content == "" {
			err = os.Remove(name)
		} else if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = os.WriteFile(name, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// expect fails the test unless the exit code is this one, and the output contains the parts.
func (r result) expect(t *testing.T, what string, code int, parts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("%s: exit code %d\n%s%s", what, r.code, r.stdout, r.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(r.stdout+r.stderr, part) {
			t.Errorf("%s: no %q in\n%s%s", what, part, r.stdout, r.stderr)
		}
	}
}

const gitRepo = "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n"

const gitQuota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: from-git}\nspec: {hard: {pods: 5}}\n"

// TestRepositoryIsAppliedFromTheClient applies revisions of a repository with the permissions of the user, and compares
// them with the cluster first.
func TestRepositoryIsAppliedFromTheClient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"system/repo.yaml":                  gitRepo,
		"cluster/role.yaml":                 "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: applied-from-git}\nrules: []\n",
		"namespaces/x/quota.yaml":           gitQuota,
		"namespaces/x/applied-a/name.yaml":  "apiVersion: v1\nkind: Namespace\nmetadata: {name: applied-a}\n",
		"namespaces/x/applied-b/name.yaml":  "apiVersion: v1\nkind: Namespace\nmetadata: {name: applied-b}\n",
		"namespaces/x/applied-b/extra.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n",
	})
	repo := func(u user, command string, args ...string) result {
		return u.hns(t, append([]string{"repo", command, "--path", dir, "--name", "applied"}, args...)...)
	}
	expect := func(what string, r result, code int, parts ...string) {
		t.Helper()
		r.expect(t, what, code, parts...)
	}
	expect("diff", repo(root, "diff"), 0, "+ namespace applied-a in namespaces/x\n", "+ applied-b ResourceQuota/from-git (namespaces/x/quota.yaml)\n", "+ ClusterRole.rbac.authorization.k8s.io/applied-from-git")
	expect("dry run", repo(root, "apply", "--dry-run=server"), 0, "ConfigMap applied-b/extra applied (server dry run)\n", "objects applied: 8, unchanged: 0, deleted: 0")
	if _, err := kube.CoreV1().Namespaces().Get(t.Context(), "applied-a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the dry run has created a namespace: %v", err)
	}
	expect("without permissions", repo(bob, "apply"), 1, "repositorysyncs")
	expect("first", repo(root, "apply"), 0, "ResourceQuota applied-a/from-git applied\n", "objects applied: 8, unchanged: 0, deleted: 0, released: 0, kept: 0, failed: 0\n")
	// The propagator writes the status of the hierarchies, which name the directory.
	for _, name := range []string{"applied-a", "applied-b"} {
		suite.Eventually(t, "the labels and the status of "+name, func() error {
			ns, err := kube.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil || ns.Labels[hnc.TreeLabel("x")] != "1" {
				return fmt.Errorf("got %v, %w", ns.Labels, err)
			}
			h, err := hierarchies.HncV1beta1().Hierarchies(name).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
			if err != nil || !meta.IsStatusConditionTrue(h.Status.Conditions, hnc.ConditionReady) || h.Status.Conditions[0].ObservedGeneration != h.Generation {
				return fmt.Errorf("got %+v, %w", h, err)
			}
			return nil
		})
	}
	expect("again", repo(root, "apply"), 0, "objects applied: 0, unchanged: 8, deleted: 0")

	// What others have changed.
	quotas := kube.CoreV1().ResourceQuotas("applied-a")
	if _, err := quotas.Patch(t.Context(), "from-git", types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"9"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = "~ applied-a ResourceQuota/from-git (namespaces/x/quota.yaml): spec.hard.pods\n- applied-b ConfigMap/extra\n"
	write(t, dir, map[string]string{"namespaces/x/applied-b/extra.yaml": ""})
	if r := repo(root, "diff"); r.code != 0 || r.stdout != want {
		t.Errorf("got %d %q, want %q", r.code, r.stdout, want)
	}
	expect("drift", repo(root, "apply", "--prune=false", "-o", "json"), 0, `"result": "applied"`, `"unchanged": 6`)

	// What leaves the repository is deleted after confirmation, and what others have created is not.
	write(t, dir, map[string]string{"namespaces/x/quota.yaml": ""})
	if _, err := kube.CoreV1().ResourceQuotas("applied-a").Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "own"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("unconfirmed", repo(root, "apply"), 1, "  ResourceQuota applied-a/from-git\n", "not confirmed, nothing was changed")
	if _, err := quotas.Get(t.Context(), "from-git", metav1.GetOptions{}); err != nil {
		t.Errorf("deleted without confirmation: %v", err)
	}
	expect("confirmed", repo(root, "apply", "--yes"), 0, "ResourceQuota applied-a/from-git deleted\n", "objects applied: 0, unchanged: 5, deleted: 3")
	if list, err := quotas.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 1 || list.Items[0].Name != "own" {
		t.Errorf("got %v, %v", list, err)
	}

	// Namespaces in use stay, and so do most namespaces.
	write(t, dir, map[string]string{"namespaces/x/applied-a/name.yaml": ""})
	expect("in use", repo(root, "apply", "--yes"), 2, "Namespace applied-a: kept: the namespace is not deleted, because it contains objects that are not from the repository: resourcequotas own")
	write(t, dir, map[string]string{"namespaces/x/applied-b/name.yaml": ""})
	expect("all at once", repo(root, "apply", "--yes", "--allow-non-empty-namespace-deletion"), 1, "KNV2006")

	// A RepositorySync takes over.
	s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "applied"}, Spec: v1alpha3.RepositorySyncSpec{
		Source: v1alpha3.RepositorySource{URL: "https://git.example.com/x.git"}, ServiceAccount: v1alpha3.ServiceAccountReference{Namespace: "hns-repositories", Name: "policy"},
	}}
	if _, err := hierarchies.HncV1alpha3().RepositorySyncs().Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = hierarchies.HncV1alpha3().RepositorySyncs().Delete(context.WithoutCancel(t.Context()), "applied", metav1.DeleteOptions{})
	})
	write(t, dir, map[string]string{"namespaces/x/applied-a/name.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: applied-a}\n"})
	expect("a RepositorySync of that name", repo(root, "apply"), 1, `the RepositorySync "applied" keeps these objects as its own commit says`)
}

const gitWidgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.pruned.example.com}
spec:
  group: pruned.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// TestRepositoryIsPrunedWithCare removes objects from a repository that must not be deleted for one reason or another.
func TestRepositoryIsPrunedWithCare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	configMap := func(name, annotations string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", annotations: {" + annotations + "}}\n"
	}
	const widget = "apiVersion: pruned.example.com/v1\nkind: Widget\nmetadata: {name: "
	write(t, dir, map[string]string{
		"system/repo.yaml":             gitRepo,
		"clusterregistry/cluster.yaml": "apiVersion: clusterregistry.k8s.io/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\n",
		"cluster/crd.yaml":             gitWidgets,
		"namespaces/pruned/name.yaml":  "apiVersion: v1\nkind: Namespace\nmetadata: {name: pruned}\n",
		"namespaces/pruned/w.yaml":     widget + "own}\n",
		"namespaces/pruned/prod.yaml":  configMap("prod", "configsync.gke.io/cluster-name-selector: prod"),
		"namespaces/pruned/old.yaml":   configMap("old", ""),
		"namespaces/pruned/freed.yaml": configMap("freed", ""),
		"namespaces/pruned/last.yaml":  configMap("last", ""),
	})
	args := func(more ...string) []string {
		return append([]string{"repo", "apply", "--path", dir, "--name", "pruned", "--clusters", "prod"}, more...)
	}
	apply := func(more ...string) result { return root.hns(t, args(more...)...) }
	exists := func(what string, names ...string) {
		t.Helper()
		for _, name := range names {
			if _, err := kube.CoreV1().ConfigMaps("pruned").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	apply().expect(t, "first", 0, "failed: 0")

	// The name of a cluster decides what is in the repository.
	apply("--yes", "--clusters", "prdo").expect(t, "two clusters", 4)
	root.hns(t, "repo", "apply", "--path", dir, "--name", "pruned", "--yes", "--clusters", "prdo").expect(t, "a cluster that the repository does not list", 4, `no cluster "prdo", only defaultcluster, prod`)
	root.hns(t, "repo", "diff", "--path", dir, "--name", "pruned", "--clusters", "prdo").expect(t, "diff for such a cluster", 4, `no cluster "prdo"`)
	exists("the cluster is not listed", "prod")

	// A CustomResourceDefinition is deleted with all objects of its kind, and not while the repository has any.
	widgets := objects.Resource(schema.GroupVersionResource{Group: "pruned.example.com", Version: "v1", Resource: "widgets"}).Namespace("pruned")
	foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "pruned.example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "foreign"}}}
	if _, err := widgets.Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"cluster/crd.yaml": ""})
	apply("--yes").expect(t, "a definition of which the repository has objects", 1, "KNV1047", "namespaces/pruned/w.yaml")
	root.hns(t, "repo", "diff", "--path", dir, "--name", "pruned", "--clusters", "prod").expect(t, "diff", 1, "KNV1047")
	if list, err := widgets.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 2 {
		t.Errorf("got %v, %v", list, err)
	}
	write(t, dir, map[string]string{"namespaces/pruned/w.yaml": ""})
	apply().expect(t, "a definition of which others have objects", 1, "widgets.pruned.example.com: kept: ", "widgets.pruned.example.com foreign")
	if err := widgets.Delete(t.Context(), "foreign", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	apply().expect(t, "unconfirmed", 1, " widgets.pruned.example.com, with all objects of its kind\n")
	write(t, dir, map[string]string{"cluster/crd.yaml": gitWidgets, "namespaces/pruned/w.yaml": widget + "own}\n"})

	// What others change while the question is open is kept.
	asked := func(change func()) result {
		t.Helper()
		return root.answer(t, "Delete them? (yes/no) ", func(*os.Process) string { change(); return "yes\n" }, args()...)
	}
	write(t, dir, map[string]string{"namespaces/pruned/old.yaml": "", "namespaces/pruned/freed.yaml": ""})
	asked(func() {
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, hnc.LabelRepositorySync)
		if _, err := kube.CoreV1().ConfigMaps("pruned").Patch(t.Context(), "freed", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}).expect(t, "released meanwhile", 2, "ConfigMap pruned/old deleted\n", "ConfigMap pruned/freed: kept: ", "deleted: 1,")
	exists("released meanwhile", "freed", "last")
	write(t, dir, map[string]string{"namespaces/pruned/last.yaml": ""})
	asked(func() {
		s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "pruned"}, Spec: v1alpha3.RepositorySyncSpec{
			Source: v1alpha3.RepositorySource{URL: "https://git.example.com/x.git"}, ServiceAccount: v1alpha3.ServiceAccountReference{Namespace: "hns-repositories", Name: "policy"},
		}}
		if _, err := hierarchies.HncV1alpha3().RepositorySyncs().Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = hierarchies.HncV1alpha3().RepositorySyncs().Delete(context.WithoutCancel(t.Context()), "pruned", metav1.DeleteOptions{})
		})
	}).expect(t, "a RepositorySync meanwhile", 1, `the RepositorySync "pruned" keeps these objects`)
	exists("a RepositorySync meanwhile", "last")
}
