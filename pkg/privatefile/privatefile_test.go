package privatefile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPrivateFilesReplaceThoseThatOthersCanRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kubeconfig")
	for range 2 {
		if err := Write(name, []byte("secret")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("got %v, %v", info, err)
		}
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(name)); err != nil || len(files) != 1 {
		t.Errorf("got %v, %v", files, err)
	}
}
