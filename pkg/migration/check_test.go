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
