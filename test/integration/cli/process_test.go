package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"k8s.io/client-go/tools/clientcmd"
)

// inNamespace returns the user with another namespace in the context of the kubeconfig.
func inNamespace(t *testing.T, u user, namespace string) user {
	t.Helper()
	config, err := clientcmd.LoadFromFile(u.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = namespace
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return user{file}
}

// onTerminal runs the plugin on a pseudo-terminal and returns what that shows.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	command := root.command(ctx, args...)
	command.Env = append(command.Env, env...)
	terminal, err := pty.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	var shown bytes.Buffer
	// Linux says EIO when the process has gone.
	_, _ = io.Copy(&shown, terminal)
	if err := command.Wait(); err != nil {
		t.Fatalf("%v: %s", err, shown.String())
	}
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

func TestTerminalsAreColouredAndPipesAreNot(t *testing.T) {
	namespace(t, "hue", "")
	subnamespace(t, "hue-a", "hue")
	compare(t, "testdata/"+t.Name()+".golden", onTerminal(t, nil, "tree", "hue"))
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if shown, plain := onTerminal(t, []string{env}, "tree", "hue"), root.hns(t, "tree", "hue").stdout; shown != plain {
			t.Errorf("%s: got %q, want %q", env, shown, plain)
		}
	}
}

func TestProgressIsShownOnTerminalsOnly(t *testing.T) {
	namespace(t, "slow", "")
	namespace(t, "slow-x", "")
	shown := onTerminal(t, nil, "create", "slow-a", "-n", "slow", "--wait")
	if !strings.Contains(shown, "\r\x1b[Kcreating slow-a below slow ...\r\x1b[K") || !strings.HasSuffix(shown, "namespace\n") {
		t.Errorf("got %q", shown)
	}
	// A parent that is halted passes nothing on, so the wait goes on, and is seen to.
	orphan(t, "slow-halted", "slow-gone")
	if err := cp.StopProcess(t.Context(), "hns-propagator"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { startPropagator(t) })
	args := []string{"move", "slow-x", "slow", "--wait", "--timeout=2s"}
	r := root.hns(t, args...)
	if want := "error: after 2s: 0 of 1 namespaces have their new tree labels, slow-x has not\n"; r.code != 6 || r.stderr != want {
		t.Errorf("got %d %q, want 6 %q", r.code, r.stderr, want)
	}
}

func TestPipeThatIsClosedEarlyEndsThePluginSilently(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	command := root.command(ctx, "tree", "-A")
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = writer, &stderr
	err = command.Run()
	status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE || stderr.Len() > 0 {
		t.Errorf("got %v, %q, want an end by SIGPIPE", err, stderr.String())
	}
	_ = writer.Close()
}

func TestSignalsEndThePlugin(t *testing.T) {
	namespace(t, "signal", "")
	namespace(t, "signal-a", "")
	file := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(file, []byte("signal\n  signal-a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := root.answer(t, "Continue? (yes/no) ", func(p *os.Process) string {
		if err := p.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		return ""
	}, "adopt", "-f", file)
	r.expect(t, "at a question", 130, "error: interrupted\n")
	// A read of standard input does not end by itself.
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	reads := root.command(ctx, "adopt", "-f", "-", "--yes")
	if _, err := reads.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := reads.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = reads.Wait()
	}()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-ticker.C:
			_ = reads.Process.Signal(os.Interrupt)
		}
	}
	if status, ok := reads.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("reading standard input: %v, want an end by SIGINT", reads.ProcessState)
	}
}

func TestSignalsEndNoViewBeforeItsCommand(t *testing.T) {
	namespace(t, "held", "")
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	command := root.command(ctx, "view", "held", "--", "sh", "-c", "trap '' INT TERM; echo up; read line")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(shown).Scan()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for range 5 {
		_ = command.Process.Signal(os.Interrupt)
		<-ticker.C
	}
	if err := command.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the view has ended: %v", err)
	}
	_ = stdin.Close()
	_ = command.Wait()
	if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signaled() {
		t.Errorf("got %v, want the end of the command", command.ProcessState)
	}
}

func TestKubectlFindsThePlugin(t *testing.T) {
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(bin, "kubectl"), "hns", "version", "--client")
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := command.CombinedOutput(); err != nil || timeless(string(out)) != "kubectl-hns version v0.1.0\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestServersPrintTheirVersion(t *testing.T) {
	for _, name := range []string{"hns-apiserver", "hns-propagator"} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(binDir, name), "--version").CombinedOutput()
		if err != nil || timeless(string(out)) != name+" version v0.1.0\n" {
			t.Errorf("got %q, %v", out, err)
		}
	}
}
