package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// widgets defines a kind that Kubernetes does not know.
const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
"group":"example.com","names":{"kind":"Widget","plural":"widgets"},"scope":"Namespaced",
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

// TestRepository checks a repository with the kinds that a cluster serves, and creates there what it means.
func TestRepository(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"system/repo.yaml":              "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n",
		"cluster/role.yaml":             "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: from-git}\nrules: []\n",
		"namespaces/quota.yaml":         "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: from-git}\nspec: {hard: {pods: 5}}\n",
		"namespaces/x/git-a/name.yaml":  "apiVersion: v1\nkind: Namespace\nmetadata: {name: git-a}\n",
		"namespaces/x/git-b/name.yaml":  "apiVersion: v1\nkind: Namespace\nmetadata: {name: git-b}\n",
		"namespaces/x/git-b/child.yaml": "apiVersion: hnc.x-k8s.io/v1beta1\nkind: Subnamespace\nmetadata: {name: git-b-child}\n",
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	hydrated := root.hns(t, "repo", "hydrate", "--path", dir, "--output", "-")
	if hydrated.code != 0 || hydrated.stderr != "" {
		t.Fatalf("hydrate: %s", hydrated.stderr)
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	apply := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), "apply", "--kubeconfig", root.kubeconfig, "-f", "-")
	apply.Stdin = strings.NewReader(hydrated.stdout)
	var out bytes.Buffer
	apply.Stdout, apply.Stderr = &out, &out
	if err := apply.Run(); err != nil {
		t.Fatalf("what is printed cannot be created in its order: %v\n%s", err, out.String())
	}
	for _, namespace := range []string{"git-a", "git-b"} {
		if _, err := kube.CoreV1().ResourceQuotas(namespace).Get(ctx, "from-git", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	if _, err := kube.CoreV1().Namespaces().Get(ctx, "git-b-child", metav1.GetOptions{}); err != nil {
		t.Errorf("the live hierarchy does not go on below a leaf: %v", err)
	}

	widget := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
	if err := os.WriteFile(filepath.Join(dir, "namespaces/x/widget.yaml"), []byte(widget), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := root.hns(t, "repo", "vet", "--path", dir); r.code != 1 || !strings.Contains(r.stderr, "[1] KNV1021: ") {
		t.Errorf("a kind that the cluster does not serve: %d %s", r.code, r.stderr)
	}
	crd := &unstructured.Unstructured{}
	if err := crd.UnmarshalJSON([]byte(widgets)); err != nil {
		t.Fatal(err)
	}
	crds := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := crds.Delete(context.WithoutCancel(t.Context()), crd.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	eventually(t, func() error {
		if r := bob.hns(t, "repo", "vet", "--path", dir); r.code != 0 || r.stdout != "No validation issues found.\n" {
			return errors.New(r.stderr)
		}
		return nil
	})
}
