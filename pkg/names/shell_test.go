package names

import (
	"os/exec"
	"testing"
)

// RBAC objects may have names that a shell would run, or that the terminal in which a command is pasted acts on.
func TestNamesAreWordsOfAShell(t *testing.T) {
	for _, name := range []string{"a", "a.b/c-d", "x;touch x", "$(id)", "`id`", "it's", "'';id;'", "a\nid", "-n", "a b", "*", "~", "\\", `"`, "a#b", "!x", "",
		"a\x03id\r", "\x1b[201~id\n", "'\n!$(id)\\Größe 😀", "a\u009b\u202eb", "a\x9b\xff"} {
		word := ShellWord(name)
		out, err := exec.CommandContext(t.Context(), "bash", "-c", "printf %s "+word).Output()
		if err != nil || string(out) != name {
			t.Errorf("%q is %q in a shell, %v", name, out, err)
		}
		if Printable(word) != word {
			t.Errorf("%q has characters that a terminal acts on, or nobody sees", word)
		}
	}
	if got := ShellWord("roles/pod-reader"); got != "roles/pod-reader" {
		t.Errorf("got %s", got)
	}
}
