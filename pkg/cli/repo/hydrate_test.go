package repo

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRepoHydrateReplacesWhatItWrote(t *testing.T) {
	policy(t, nil)
	hydrate := func(args ...string) (string, string, int) {
		return hns(append([]string{"repo", "hydrate", "--no-api-server-check"}, args...)...)
	}
	if _, stderr, code := hydrate(); code != 0 {
		t.Fatal(stderr)
	}
	both := "defaultcluster/namespace_shop.yaml defaultcluster/shop/configmap_m.yaml prod/namespace_shop.yaml prod/shop/configmap_m.yaml prod/shop/secret_s.yaml"
	if got := written(t, "compiled"); got != both {
		t.Errorf("wrote %s", got)
	}
	if err := os.Remove("namespaces/eng/map.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := hydrate("--clusters", "prod", "-o", "json"); code != 0 {
		t.Fatal(stderr)
	}
	if got := written(t, "compiled"); got != "namespace_shop.json shop/secret_s.json" {
		t.Errorf("wrote %s", got)
	}
	if err := os.WriteFile("namespaces/eng/bad.yaml", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := hydrate("--clusters", "prod"); code != 1 || !strings.Contains(stderr, "KNV2001") || written(t, "compiled") != "namespace_shop.json shop/secret_s.json" {
		t.Errorf("a repository with errors must leave the output alone: %d %q", code, stderr)
	}
}

func TestRepoHydrateDoesNotDestroy(t *testing.T) {
	policy(t, map[string]string{"notes/mine.txt": "x"})
	for _, dir := range []string{".", "..", "namespaces", "cluster/new", "notes"} {
		if _, stderr, code := hns("repo", "hydrate", "--no-api-server-check", "--output", dir); code != 1 {
			t.Errorf("%s is replaced: %q", dir, stderr)
		}
	}
	if _, err := os.Stat("notes/mine.txt"); err != nil {
		t.Error(err)
	}
	if _, stderr, code := hns("repo", "hydrate", "--no-api-server-check", "--flat", "--clusters", "prod", "--output", "namespaces/flat.yaml"); code != 1 {
		t.Errorf("a file is written into the repository: %q", stderr)
	}
}

func TestRepoHydrateFlat(t *testing.T) {
	policy(t, nil)
	if _, stderr, code := hns("repo", "hydrate", "--no-api-server-check", "--flat"); code != 1 || !strings.Contains(stderr, "--clusters, of defaultcluster, prod") {
		t.Errorf("one file for two clusters: got %d %q", code, stderr)
	}
	stdout, stderr, code := hns("repo", "hydrate", "--no-api-server-check", "--output", "-", "--clusters", defaultCluster)
	if code != 0 || stdout != "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n  namespace: shop\n" {
		t.Errorf("got %d %q %q", code, stdout, stderr)
	}
	if stdout, stderr, code := hns("repo", "hydrate", "--no-api-server-check", "--flat", "--clusters", defaultCluster, "--format", "json"); code != 0 || stdout != "Wrote 2 objects to compiled.json\n" {
		t.Errorf("got %d %q %q", code, stdout, stderr)
	}
	var list metav1.List
	data, err := os.ReadFile("compiled.json")
	if err = errors.Join(err, json.Unmarshal(data, &list)); err != nil || list.Kind != "List" || len(list.Items) != 2 {
		t.Errorf("got %v: %s", err, data)
	}
}

func TestRepoInitDoesNotOverwrite(t *testing.T) {
	t.Chdir(t.TempDir())
	if stdout, stderr, code := hns("repo", "init", "--path", "new"); code != 0 || stdout != "Done!\n" {
		t.Fatalf("got %q %q", stdout, stderr)
	}
	if got := written(t, "new"); got != "README.md system/README.md system/repo.yaml" {
		t.Errorf("wrote %s", got)
	}
	for _, dir := range []string{"cluster", "clusterregistry", "namespaces"} {
		if _, err := os.Stat("new/" + dir); err != nil {
			t.Error(err)
		}
	}
	if _, stderr, code := hns("repo", "vet", "--path", "new", "--no-api-server-check"); code != 0 {
		t.Errorf("what init makes is not valid: %s", stderr)
	}
	if err := os.WriteFile("new/README.md", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := hns("repo", "init", "--path", "new"); code != 1 || !strings.Contains(stderr, "not empty") {
		t.Errorf("got %d %q", code, stderr)
	}
	if _, stderr, code := hns("repo", "init", "--path", "new", "--force"); code != 0 {
		t.Errorf("--force: %q", stderr)
	}
	if data, err := os.ReadFile("new/README.md"); err != nil || string(data) != "mine" {
		t.Errorf("--force overwrites: %q %v", data, err)
	}
	if err := os.MkdirAll("git/.git", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := hns("repo", "init", "--path", "git"); code != 0 {
		t.Errorf("files whose names begin with a dot must not matter: %q", stderr)
	}
}

// TestRepoHydrateWritesNowhereElse has a cluster and a kind that are paths.
func TestRepoHydrateWritesNowhereElse(t *testing.T) {
	for name, object := range map[string]string{
		"cluster": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {configsync.gke.io/cluster-name-selector: ../../outside}}\n",
		"kind":    "apiVersion: example.com/v1\nkind: ../../../outside\nmetadata: {name: s}\n",
		"group":   "apiVersion: ../../../outside/v1\nkind: A\nmetadata: {name: s}\n",
	} {
		t.Run(name, func(t *testing.T) {
			policy(t, map[string]string{"namespaces/eng/bad.yaml": object})
			if _, stderr, code := hns("repo", "hydrate", "--no-api-server-check", "--output", "a/b/compiled"); code != 1 {
				t.Errorf("got %d %q", code, stderr)
			}
			if got := written(t, "."); strings.Contains(got, "outside") || strings.Contains(got, "compiled") {
				t.Errorf("wrote %s", got)
			}
		})
	}
}
