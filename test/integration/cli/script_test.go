package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the expected output anew")

// user runs the plugin with a kubeconfig.
type user struct{ kubeconfig string }

// result is what a run has left.
type result struct {
	stdout, stderr string
	code           int
}

func (u user) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl-hns"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+u.kubeconfig, "KUBECACHEDIR="+filepath.Join(cp.Dir(), "kubectl-cache"), "TERM=xterm", "NO_COLOR=")
	return command
}

// hns runs the plugin. It fails the test if that can't be done.
func (u user) hns(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*deadline)
	defer cancel()
	command := u.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("kubectl hns %s: %v %v\n%s", strings.Join(args, " "), err, ctx.Err(), stderr.String())
	}
	return result{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}

// answer runs the plugin. When it shows a question, react gives the answer, "" for none.
func (u user) answer(t *testing.T, question string, react func(*os.Process) string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	command := u.command(ctx, args...)
	var stdout bytes.Buffer
	command.Stdout = &stdout
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	for char := make([]byte, 1); !strings.HasSuffix(shown.String(), question); {
		if _, err := stderr.Read(char); err != nil {
			t.Fatalf("kubectl hns %s does not ask %q: %v\n%s", strings.Join(args, " "), question, err, shown.String())
		}
		shown.Write(char)
	}
	_, _ = io.WriteString(stdin, react(command.Process))
	_, _ = io.Copy(&shown, stderr)
	_ = command.Wait()
	return result{stdout.String(), shown.String(), command.ProcessState.ExitCode()}
}

// script is what a user runs: commands and their output are compared with a golden file.
type script struct {
	t    *testing.T
	user user
	text strings.Builder
}

func newScript(t *testing.T, u user) *script {
	s := &script{t: t, user: u}
	t.Cleanup(func() {
		if !t.Failed() {
			compare(t, filepath.Join("testdata", t.Name()+".golden"), s.text.String())
		}
	})
	return s
}

// say puts in a comment.
func (s *script) say(text string) { fmt.Fprintf(&s.text, "# %s\n", text) }

// as goes on as somebody else.
func (s *script) as(name string, u user) {
	s.user = u
	s.say("as " + name)
}

// run runs the plugin and records it.
func (s *script) run(args ...string) {
	s.t.Helper()
	s.record(args, s.user.hns(s.t, args...))
}

// until runs the plugin until its output holds want, and records the last run.
func (s *script) until(want string, args ...string) {
	s.t.Helper()
	var r result
	eventually(s.t, func() error {
		if r = s.user.hns(s.t, args...); !strings.Contains(r.stdout+r.stderr, want) {
			return fmt.Errorf("kubectl hns %s does not say %q:\n%s%s", strings.Join(args, " "), want, r.stdout, r.stderr)
		}
		return nil
	})
	s.record(args, r)
}

func (s *script) record(args []string, r result) {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if arg == "" || strings.ContainsAny(arg, ` *"!`) {
			words[i] = "'" + arg + "'"
		}
	}
	fmt.Fprintf(&s.text, "$ kubectl hns %s\n%s", strings.Join(words, " "), timeless(r.stdout))
	for line := range strings.Lines(timeless(r.stderr)) {
		s.text.WriteString("2> " + line)
	}
	if r.code != 0 {
		fmt.Fprintf(&s.text, "[exit code %d]\n", r.code)
	}
	s.text.WriteString("\n")
}

// Ages, times and generated names are different in each run, and versions in each build. Columns are as wide as the
// longest age.
var (
	ages  = regexp.MustCompile(`(\s)(?:(?:\d+[dhms]){1,2}|AGE) *(\s)`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	named = regexp.MustCompile(`"release-\w{5}"`)
	built = regexp.MustCompile(`(version v\d+\.\d+\.\d+)[-+.\w]*`)
)

func timeless(text string) string {
	text = named.ReplaceAllString(text, `"release-NAME"`)
	return built.ReplaceAllString(times.ReplaceAllString(ages.ReplaceAllString(text, "${1}AGE$2"), "TIME"), "$1")
}

// compare fails the test if got is not what the file holds, or writes it there.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	if got, want := timeless(got), timeless(string(want)); got != want {
		t.Errorf("this differs from %s at %q; if it is right: go test ./test/integration/cli -update\n%s", file, difference(got, want), printable(got))
	}
}

// printable returns text, and of anything else how much there is of it.
func printable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return fmt.Sprintf("(%d bytes)", len(s))
}

// difference returns the first line of a that is not at the same position in b.
func difference(a, b string) string {
	theirs := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(theirs) || theirs[i] != line {
			return line
		}
	}
	return "(its end)"
}

// eventually calls try until it returns nil.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	if err := within(deadline, try); err != nil {
		t.Fatal(err)
	}
}

// within calls try until it returns nil or the time is over, and returns its last error.
func within(limit time.Duration, try func() error) error {
	end := time.Now().Add(limit)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil || time.Now().After(end) {
			return err
		}
		<-ticker.C
	}
}
