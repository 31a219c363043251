package cli

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// runOffline runs the plugin, and returns its exit code and standard error.
func runOffline(args ...string) (int, string) {
	var out, errOut bytes.Buffer
	f := NewFactory(&errOut)
	root := NewRoot(f, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, "", NewCommand)
	root.SetArgs(append(args, "--server", "http://127.0.0.1:1"))
	cmd, err := root.ExecuteC()
	if err != nil {
		PrintError(&errOut, f, cmd, err)
	}
	return exitCode(err), errOut.String()
}

func TestEmptyParentIsNoRoot(t *testing.T) {
	for _, command := range []string{"set", "plan"} {
		if code, text := runOffline(command, "prod", "--parent", ""); code != exitUsage || !strings.Contains(text, "--root") {
			t.Errorf("%s: got %d %q", command, code, text)
		}
		if code, text := runOffline(command, "prod", "--parent", "a/b"); code != exitUsage || !strings.Contains(text, `"a/b"`) {
			t.Errorf("%s: got %d %q", command, code, text)
		}
	}
}
