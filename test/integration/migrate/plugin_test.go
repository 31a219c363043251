package migrate

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// plugin runs kubectl hns with a kubeconfig, and returns what it prints. If killAt is not empty, it is killed when this
// step begins.
func plugin(t *testing.T, killAt string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binDir, "kubectl-hns"), args...)
	if i := slices.Index(args, limited); i >= 0 {
		args = append(slices.Clone(args[:i]), args[i+1:]...)
		cmd = exec.CommandContext(t.Context(), "bash", append([]string{"-c", `ulimit -f 100 && exec "$0" "$@"`, filepath.Join(binDir, "kubectl-hns")}, args...)...)
	}
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cp.Kubeconfig(), "HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	last, since := "", time.Now()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		out.WriteString(lines.Text() + "\n")
		if step := stepOf(lines.Text()); step != "" {
			if last != "" {
				t.Logf("step %s took %s", last, time.Since(since).Round(10*time.Millisecond))
			}
			last, since = step, time.Now()
		}
		if killAt != "" && stepOf(lines.Text()) == killAt {
			_ = cmd.Process.Kill()
		}
	}
	if strings.Contains(stderr.String(), "Warning: ") {
		t.Errorf("%v prints warnings of servers, whose effects the migration does not have: %s", args, stderr.String())
	}
	if err = cmd.Wait(); err != nil {
		err = fmt.Errorf("%v: %w: %s", args, err, stderr.String())
	}
	return out.String(), err
}

// limited, as an argument, is none: the plugin can write 100 KiB to a file, as on a full disk.
const limited = "(limited)"

// stepOf returns the step whose beginning a line shows, "" for any other line.
func stepOf(line string) string {
	fields := strings.Fields(line)
	if len(fields) < 2 || !strings.Contains(fields[0], "/") {
		return ""
	}
	return fields[1]
}
