package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// policy is a repository with two clusters, in a directory of its own, which is the working directory.
func policy(t *testing.T, more map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	files := map[string]string{
		"system/repo.yaml":                   initialFiles["system/repo.yaml"],
		"clusterregistry/clusters.yaml":      "apiVersion: clusterregistry.k8s.io/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\n",
		"namespaces/eng/map.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
		"namespaces/eng/shop/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
		"namespaces/eng/shop/prod.yaml":      "apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {configsync.gke.io/cluster-name-selector: prod}}\n",
	}
	for name, content := range more {
		files[name] = content
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// hns runs the plugin as `kubectl hns` with these arguments, and returns what it prints and its exit code.
func hns(args ...string) (stdout, stderr string, code int) {
	var out, errOut bytes.Buffer
	f := cli.NewFactory(&errOut)
	root := cli.NewRoot(f, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, "", NewCommand)
	root.SetArgs(slices.DeleteFunc(args, func(arg string) bool { return arg == root.Name() }))
	if cmd, err := root.ExecuteC(); err != nil {
		cli.PrintError(&errOut, f, cmd, err)
		if code = 1; errors.Is(err, cli.ErrFound) {
			code = 2
		}
	}
	return out.String(), errOut.String(), code
}

// written returns the files in a directory.
func written(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != outputMarker {
			names = append(names, strings.TrimPrefix(name, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func TestRepoVetReportsOnStandardErrorAndFails(t *testing.T) {
	policy(t, nil)
	if stdout, stderr, code := hns("repo", "vet", "--no-api-server-check"); code != 0 || stdout != "No validation issues found.\n" || stderr != "" {
		t.Errorf("got %d %q %q", code, stdout, stderr)
	}
	policy(t, map[string]string{
		"cluster/both.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
		"namespaces/x/shop/y.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {configsync.gke.io/cluster-name-selector: prod}}\n",
	})
	stdout, stderr, code := hns("repo", "vet", "--no-api-server-check")
	if code != 1 || stdout != "" || strings.Count(stderr, "KNV1039:") != 1 || !strings.HasPrefix(stderr, "1 error(s)\n\n\n[1] KNV1039: ") {
		t.Errorf("an error of both clusters is reported once: got %d %q %q", code, stdout, stderr)
	}
	if err := os.Remove("cluster/both.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := hns("repo", "vet", "--no-api-server-check"); code != 1 || !strings.HasPrefix(stderr, "errors for cluster \"prod\":\n1 error(s)\n\n\n[1] KNV1029: ") {
		t.Errorf("an error of one cluster names it: got %d %q", code, stderr)
	}
	if _, stderr, code := hns("repo", "vet", "--no-api-server-check", "--clusters", defaultCluster); code != 0 || stderr != "" {
		t.Errorf("another cluster has no error: got %d %q", code, stderr)
	}
	if _, stderr, code := hns("repo", "vet", "--no-api-server-check", "--clusters", "dev"); code != 1 || !strings.Contains(stderr, `no cluster "dev", only defaultcluster, prod`) {
		t.Errorf("a cluster that the repository does not know: got %d %q", code, stderr)
	}
}

// An object of 3 MB names 600,000 clusters.
func TestARepositoryIsNotCompiledForAnyNumberOfClusters(t *testing.T) {
	var list strings.Builder
	for i := range maxClusters {
		fmt.Fprintf(&list, "c%03d,", i)
	}
	policy(t, map[string]string{
		"namespaces/eng/many.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many, annotations: {configsync.gke.io/cluster-name-selector: '" + list.String() + "'}}\n",
	})
	for _, command := range [][]string{{"vet"}, {"hydrate", "--output", t.TempDir()}, {"diff", "--against", "."}} {
		args := append([]string{"repo", command[0], "--no-api-server-check"}, command[1:]...)
		if _, stderr, code := hns(args...); code != 1 || !strings.Contains(stderr, "the repository names 1002 clusters, more than 1000; select some of them with --clusters") {
			t.Errorf("%v: got %d %q", command, code, stderr)
		}
	}
	if _, stderr, code := hns("repo", "vet", "--no-api-server-check", "--clusters", "c001,prod"); code != 0 || stderr != "" {
		t.Errorf("two of them: got %d %q", code, stderr)
	}
	if _, stderr, code := hns("repo", "vet", "--no-api-server-check", "--clusters", "dev"); code != 1 || !strings.Contains(stderr, `no cluster "dev", only defaultcluster, c000, `) || !strings.Contains(stderr, "c018, and 982 more") {
		t.Errorf("an unknown one: got %d %q", code, stderr)
	}
}

func TestTheObjectsOfAllClustersAreBounded(t *testing.T) {
	one := &repository.Result{Objects: make([]*object.Object, maxCompiled/2)}
	all := &compiled{}
	for range 2 {
		if err := all.add("c", one); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.add("c", one); err == nil || !strings.Contains(err.Error(), "more than 2000000 objects together; select fewer of them with --clusters") {
		t.Errorf("got %v", err)
	}
}

func TestRepoVetAsJSON(t *testing.T) {
	policy(t, map[string]string{"namespaces/eng/bad.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: other}\n"})
	stdout, stderr, code := hns("repo", "vet", "--no-api-server-check", "-o", "json", "--clusters", "prod")
	var got repoReport
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	if code != 1 || stderr != "" || len(got.Clusters) != 1 || got.Clusters[0].Name != "prod" || len(got.Clusters[0].Errors) != 1 || got.Clusters[0].Errors[0].Code != "KNV1009" {
		t.Errorf("got %d %q %s", code, stderr, stdout)
	}
}

// TestRepoVetAsksTheServerForKinds has a server that serves one kind more than Kubernetes does.
func TestRepoVetAsksTheServerForKinds(t *testing.T) {
	mux := http.NewServeMux()
	for path, answer := range map[string]any{
		"/api":                 metav1.APIVersions{},
		"/apis":                metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "example.com", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "example.com/v1", Version: "v1"}}}}},
		"/apis/example.com/v1": metav1.APIResourceList{GroupVersion: "example.com/v1", APIResources: []metav1.APIResource{{Name: "widgets", Kind: "Widget", Namespaced: true}}},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	vet := func(kind string, args ...string) (string, int) {
		policy(t, map[string]string{"namespaces/eng/x.yaml": "apiVersion: example.com/v1\nkind: " + kind + "\nmetadata: {name: x}\n"})
		_, stderr, code := hns(append([]string{"repo", "vet"}, args...)...)
		return stderr, code
	}
	if stderr, code := vet("Widget", "-s", server.URL); code != 0 || stderr != "" {
		t.Errorf("a kind that the server serves: got %d %q", code, stderr)
	}
	if stderr, code := vet("Gadget", "-s", server.URL); code != 1 || !strings.Contains(stderr, "[1] KNV1021: ") {
		t.Errorf("a kind that it does not serve: got %d %q", code, stderr)
	}
	if stderr, code := vet("Gadget", "--no-api-server-check"); code != 0 || !strings.HasPrefix(stderr, "Warning: KNV1021: ") {
		t.Errorf("the same without a server: got %d %q", code, stderr)
	}
	server.Close()
	if stderr, code := vet("Widget", "-s", server.URL); code != 1 || !strings.Contains(stderr, "--no-api-server-check") {
		t.Errorf("a server that is down: got %d %q", code, stderr)
	}
}

func TestRepoVetReadsTheKindsFile(t *testing.T) {
	widget := map[string]string{"namespaces/eng/x.yaml": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\n"}
	for name, want := range map[string]struct {
		file, stderr string
		code         int
	}{
		"current":      {"NAME      SHORTNAMES   APIVERSION       NAMESPACED   KIND\nnodes     no           v1               false        Node\nwidgets                example.com/v1   true         Widget\n", "", 0},
		"old":          {"NAME      SHORTNAMES   APIGROUP      NAMESPACED   KIND\nnodes     no                         false        Node\nwidgets                example.com   true         Widget\n", "", 0},
		"cluster":      {"NAME      SHORTNAMES   APIVERSION       NAMESPACED   KIND\nwidgets                example.com/v1   false        Widget\n", "KNV1039", 1},
		"not a table":  {"hello\n", "KNV1064", 1},
		"empty":        {"", "KNV1064", 1},
		"half a table": {"NAME      SHORTNAMES   APIVERSION       NAMESPACED   KIND\nwidgets\n", "KNV1064", 1},
	} {
		t.Run(name, func(t *testing.T) {
			policy(t, widget)
			if err := os.WriteFile("api-resources.txt", []byte(want.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, stderr, code := hns("repo", "vet", "--no-api-server-check")
			if code != want.code || !strings.Contains(stderr, want.stderr) || want.stderr == "" && stderr != "" {
				t.Errorf("got %d %q", code, stderr)
			}
		})
	}
}

func TestRepoCompletion(t *testing.T) {
	policy(t, nil)
	for words, want := range map[string]string{
		"vet --clusters p":     "prod\n:4\n",
		"hydrate --format ":    "json\nyaml\n:4\n",
		"hydrate --clusters d": "defaultcluster\n:4\n",
		"init --path ":         ":16\n",
	} {
		stdout, _, _ := hns(append([]string{cobra.ShellCompRequestCmd, "repo"}, strings.Split(words, " ")...)...)
		if stdout != want {
			t.Errorf("%s: got %q", words, stdout)
		}
	}
}
