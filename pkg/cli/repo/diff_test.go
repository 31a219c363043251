package repo

import (
	"os"
	"strings"
	"testing"
)

// revisions makes two copies of a repository, in the directories old and new of the working directory.
func revisions(t *testing.T) {
	t.Helper()
	policy(t, nil)
	for _, revision := range []string{"old", "new"} {
		for _, dir := range []string{"system", "clusterregistry", "namespaces"} {
			if err := os.CopyFS(revision+"/"+dir, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRepoDiff(t *testing.T) {
	revisions(t)
	diff := func(args ...string) (string, string, int) {
		return hns(append([]string{"repo", "diff", "--path", "new", "--against", "old", "--no-api-server-check"}, args...)...)
	}
	if stdout, stderr, code := diff("--exit-code"); code != 0 || stdout != "" || stderr != "" {
		t.Errorf("the same: got %d %q %q", code, stdout, stderr)
	}
	if err := os.Rename("new/namespaces/eng", "new/namespaces/tech"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("new/namespaces/tech/map.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: b}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "> namespace shop from namespaces/eng to namespaces/tech; it loses the labels eng.tree.hnc.x-k8s.io/depth; it gains the labels tech.tree.hnc.x-k8s.io/depth\n" +
		"~ shop ConfigMap/m (namespaces/tech/map.yaml)\n"
	if stdout, stderr, code := diff("--clusters", "prod"); code != 0 || stdout != want || stderr != "" {
		t.Errorf("a renamed directory: got %d %q %q", code, stdout, stderr)
	}
	if stdout, _, code := diff(); code != 0 || stdout != "Cluster defaultcluster:\n"+want+"Cluster prod:\n"+want {
		t.Errorf("both clusters: got %d %q", code, stdout)
	}
	if stdout, stderr, code := diff("--clusters", "prod", "--exit-code"); code != 2 || stdout != want || stderr != "" {
		t.Errorf("with an exit code for differences: got %d %q %q", code, stdout, stderr)
	}
	if stdout, _, code := diff("-o", "json", "--clusters", "prod"); code != 0 || !strings.Contains(stdout, `"change": "Moved"`) {
		t.Errorf("got %d %q", code, stdout)
	}
	if err := os.WriteFile("old/namespaces/eng/bad.yaml", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := diff(); code != 1 || !strings.HasPrefix(stderr, "The repository in old has errors:\n1 error(s)\n") {
		t.Errorf("an error in the other revision: got %d %q", code, stderr)
	}
}
