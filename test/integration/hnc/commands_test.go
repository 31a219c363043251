package hnc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/pages"
)

// shown returns the commands of the page's block that begins with these words, one for each line.
func shown(t *testing.T, beginning string) []string {
	t.Helper()
	page, err := pages.Read(root + "/docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range page.Blocks {
		if block.Kind == pages.Shell && strings.HasPrefix(block.Text, beginning) {
			return strings.Split(strings.TrimSpace(strings.ReplaceAll(block.Text, "\\\n", "")), "\n")
		}
	}
	t.Fatalf("the page has no block that begins with %q", beginning)
	return nil
}

// checkout returns a directory with what the page's commands need of the repository. Exports are written into it.
var checkout = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(cp.Dir(), "checkout")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for _, name := range []string{"artifacts", "hack", "_output"} {
		target, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// execute runs a line as a user does who answers each question with yes. It is killed when a step has begun, if one is
// named.
func execute(t *testing.T, line, stdin, killAt string) (string, error) {
	t.Helper()
	dir, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", line)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cp.Kubeconfig(), "HOME="+cp.Dir(), "PATH="+filepath.Join(dir, "_output/bin")+":"+os.Getenv("PATH"))
	out := &buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	begun := regexp.MustCompile(`\d+/\d+ ` + killAt + ` `)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for killed := killAt == ""; ; {
		select {
		case err := <-ended:
			if stdin == yes {
				t.Logf("%6.1f s %s %s", time.Since(begin).Seconds(), line, killAt)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w: %s", line, err, out)
			}
			return out.String(), err
		case <-ticker.C:
			if !killed && begun.MatchString(out.String()) {
				killed = true
				if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

const yes = "yes\nyes\n"

// run runs a line of the page, which must succeed.
func run(t *testing.T, line string) string {
	t.Helper()
	out, err := execute(t, line, yes, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fails runs a line that must fail with a message.
func fails(t *testing.T, line, want string) {
	t.Helper()
	if out, err := execute(t, line, yes, ""); err == nil || !strings.Contains(out, want) {
		t.Errorf("%s: %v\n%s\nwant %q", line, err, out, want)
	}
}

// killed runs a line once for each step, in which it is killed. With -short, it does so in the last one only.
func killed(t *testing.T, line string, steps ...string) {
	t.Helper()
	if testing.Short() {
		steps = steps[len(steps)-1:]
	}
	for _, step := range steps {
		if out, err := execute(t, line, yes, step); err == nil || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("%s was not killed in step %s: %v\n%s", line, step, err, out)
		}
	}
}

// kubectl runs kubectl, which must succeed.
func kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, err := execute(t, "kubectl "+strings.Join(args, " "), stdin, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// buffer is read while a process writes it.
type buffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

// doctor waits until kubectl hns doctor says something: what it looks at may take a moment.
func doctor(t *testing.T, want string) string {
	t.Helper()
	var out string
	suite.Eventually(t, "kubectl hns doctor", func() error {
		out, _ = execute(t, "kubectl hns doctor", "", "")
		if !strings.Contains(out, want) {
			return fmt.Errorf("it does not say %q:\n%s", want, out)
		}
		return nil
	})
	return out
}
