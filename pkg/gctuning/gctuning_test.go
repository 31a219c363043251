package gctuning

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLimitFollowsTheContainer(t *testing.T) {
	for text, want := range map[string]int64{"1073741824\n": 912680530, "max\n": 0, "": 0, "-1": 0} {
		file := filepath.Join(t.TempDir(), "memory.max")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := softLimit(file); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
	if got := softLimit(filepath.Join(t.TempDir(), "none")); got != 0 {
		t.Errorf("without a file: got %d", got)
	}
}
