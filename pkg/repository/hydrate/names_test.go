package hydrate

import (
	"testing"
	"time"
)

func TestUnusedNames(t *testing.T) {
	var unused Unused
	for _, name := range [][2]string{{"a", "a"}, {"a_3", "a_3"}, {"a", "a_2"}, {"a", "a_4"}, {"b", "b"}, {"a_2", "a_2_2"}, {"a", "a_5"}} {
		if got := unused.Name(name[0]); got != name[1] {
			t.Errorf("for %s: got %s, want %s", name[0], got, name[1])
		}
	}
}

// Tens of thousands of names can differ only in what file names do not have.
func TestUnusedNamesAreFoundFast(t *testing.T) {
	var unused Unused
	begin := time.Now()
	for range 50_000 {
		unused.Name("role_a")
	}
	if used := time.Since(begin); used > 10*time.Second {
		t.Errorf("it took %s", used)
	}
}
