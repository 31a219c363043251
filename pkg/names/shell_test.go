package names

import (
	"os/exec"
	"testing"
)

// RBAC objects may have names that a shell would run.
func TestNamesAreWordsOfAShell(t *testing.T) {
	for _, name := range []string{"a", "a.b/c-d", "x;touch x", "$(id)", "`id`", "it's", "'';id;'", "a\nid", "-n", "a b", "*", "~", "\\", `"`, "a#b", "!x", ""} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+ShellWord(name)).Output()
		if err != nil || string(out) != name {
			t.Errorf("%q is %q in a shell, %v", name, out, err)
		}
	}
	if got := ShellWord("roles/pod-reader"); got != "roles/pod-reader" {
		t.Errorf("got %s", got)
	}
}
