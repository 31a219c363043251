package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAdopt(t *testing.T) {
	for _, name := range []string{"adopt-a", "adopt-b", "adopt-c", "adopt-d"} {
		namespace(t, name, "")
	}
	for name, value := range map[string]string{"adopt-b": "a", "adopt-c": "b"} {
		patch := `{"metadata":{"labels":{"example.net/tenant":"` + value + `","example.net/other":"missing"},"annotations":{"example.net/parent":"adopt-d"}}}`
		if _, err := kube.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	cycle := filepath.Join(t.TempDir(), "cycle.yaml")
	content := "adopt-a\n  adopt-b\n    adopt-a\n"
	if err := os.WriteFile(cycle, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newScript(t, root)
	s.run("adopt", "--from-label", "example.net/tenant", "--prefix", "adopt-", "--dry-run=server")
	s.run("adopt", "--from-label", "example.net/tenant", "--prefix", "adopt-")
	s.run("adopt", "--from-label", "example.net/tenant", "--prefix", "adopt-", "--yes")
	s.run("tree", "adopt-a")
	s.run("adopt", "--from-label", "example.net/tenant", "--prefix", "adopt-", "--yes")
	s.say("somebody has labeled a namespace of a tree")
	s.run("adopt", "--from-annotation", "example.net/parent", "-l", "example.net/tenant=b", "--dry-run=client")
	s.run("adopt", "--from-annotation", "example.net/parent", "-l", "example.net/tenant=b", "--yes")
	s.run("tree", "adopt-d")
	s.run("adopt", "--from-annotation", "example.net/parent", "-l", "example.net/tenant=b", "--move", "--dry-run=client")
	s.run("adopt", "--from-annotation", "example.net/parent", "-l", "example.net/tenant=b", "--move", "--yes")
	s.run("tree", "adopt-d")
	s.run("adopt", "--from-label", "example.net/none")
	s.say("errors")
	s.run("adopt", "--from-label", "example.net/other")
	s.run("adopt", "-f", cycle)
	s.run("adopt", "-f", cycle, "--move")
	s.run("adopt", "--prefix", "x", "--from-tree-labels")
	s.run("adopt", "--from-label", "a", "--from-annotation", "b")
	s.run("adopt")
	text := s.text.String()
	s.text.Reset()
	s.text.WriteString(strings.ReplaceAll(text, filepath.Dir(cycle), "DIR"))
}
