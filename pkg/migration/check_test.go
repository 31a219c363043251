package migration

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCompareClocks(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		header string
		ok     bool
	}{
		"equal":     {now.UTC().Format(http.TimeFormat), true},
		"close":     {now.Add(-4 * time.Minute).UTC().Format(http.TimeFormat), true},
		"ahead":     {now.Add(-6 * time.Minute).UTC().Format(http.TimeFormat), false},
		"behind":    {now.Add(6 * time.Minute).UTC().Format(http.TimeFormat), false},
		"not known": {"", true},
	} {
		if err := compareClocks(now, test.header); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingFlags(t *testing.T) {
	own := []string{"--excluded-namespace=kube-system,vault", "--managed-namespace-label=a", "--nopropagation-label=x=y"}
	for arg, missing := range map[string]bool{
		"--managed-namespace-label=a": false, "--managed-namespace-label=b": true, "--managed-namespace-annotation=a": true,
		"--excluded-namespace=vault": false, "--excluded-namespace=kube-public": false, "--excluded-namespace=other": true,
		"--included-namespace-regex=.*": false, "--included-namespace-regex=a": true, "--nopropagation-label=cattle.io/creator=norman": false,
		"--nopropagation-label=x=z": true, "--unpropagated-label=a": true, "--enable-hrq": false, "--max-reconciles=10": false,
	} {
		if got := missingFlags([]string{arg}, own); (len(got) > 0) != missing {
			t.Errorf("%s: missing %v, want %t", arg, got, missing)
		}
	}
}

// A failed write leaves nothing.
func TestExportIsCompleteOrMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "export.yaml")
	if err := writeFile(path, []byte("complete")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others can read the export", info, err)
	}
	// The name is that of a directory, so that the last part of the write fails.
	blocked := filepath.Join(dir, "blocked")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(blocked, []byte("x")); err == nil || !strings.Contains(err.Error(), "make room, or choose another file") {
		t.Errorf("got %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("a failed write has left something: %v, %v", entries, err)
	}
}
