package migration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// exporting returns a migration of a cluster with a definition and a quota, to a file.
func exporting(t *testing.T, quota *unstructured.Unstructured) *Migration {
	t.Helper()
	_, m := twoProcesses(t, fakeClients(t, object("CustomResourceDefinition", "", quotas+"."+hnc.GroupName, map[string]any{}), quota))
	m.File = filepath.Join(t.TempDir(), "export.yaml")
	return m
}

// An export of somebody else is not overwritten, and one of an interrupted step is.
func TestOtherExportsAreNotOverwritten(t *testing.T) {
	m := exporting(t, object("HierarchicalResourceQuota", "a", "budget", nil))
	if err := os.WriteFile(m.File, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.writeExport(t.Context()); err == nil || !strings.Contains(err.Error(), "exists, and is not the export of this migration") {
		t.Errorf("got %v", err)
	}
	if content, err := os.ReadFile(m.File); err != nil || string(content) != "other" {
		t.Errorf("the file is overwritten: %s, %v", content, err)
	}
	m.state.stored.Data[keyDigest] = digestOf([]byte("other"))
	if err := m.writeExport(t.Context()); err != nil {
		t.Errorf("the file of this migration: %v", err)
	}
	m.state.stored.Data[keyDigest] = ""
	if err := m.writeExport(t.Context()); err != nil {
		t.Errorf("a file that was written and not recorded: %v", err)
	}
}

// Until the freeze, users can set finalizers after the first check.
func TestFinalizersAreCheckedInTheExport(t *testing.T) {
	m := exporting(t, object("HierarchicalResourceQuota", "a", "budget", nil, "example.com/held"))
	if err := m.writeExport(t.Context()); err == nil || !strings.Contains(err.Error(), "HierarchicalResourceQuota a/budget has the finalizer example.com/held") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(m.File); err == nil {
		t.Error("it is exported")
	}
}

// Users can write the status of some objects. YAML has no keys of more than 1024 characters.
func TestStatusIsNotExported(t *testing.T) {
	quota := object("HierarchicalResourceQuota", "a", "budget", nil)
	quota.Object["status"] = map[string]any{"hard": map[string]any{strings.Repeat("x", 1100): "1"}}
	if err := exporting(t, quota).writeExport(t.Context()); err != nil {
		t.Error(err)
	}
}
