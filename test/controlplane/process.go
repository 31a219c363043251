package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// stopGrace is what a process has to end by itself.
	stopGrace = 30 * time.Second
	// killGrace is what the system has to clear away a killed process.
	killGrace = 10 * time.Second
	pollEvery = 100 * time.Millisecond
	tailBytes = 4096
)

// process is one subprocess, known by its name. Its pid file is locked for as long as it runs: the lock belongs to a
// descriptor that the process inherits, so it identifies the process without trusting a number that the system may have
// given to another process.
type process struct {
	dir, name string
	// logStart is where the log of the present run begins.
	logStart int64
}

func newProcess(dir, name string) *process { return &process{dir: dir, name: name} }

func (p *process) logFile() string { return filepath.Join(p.dir, p.name+".log") }
func (p *process) pidFile() string { return filepath.Join(p.dir, p.name+".pid") }

// running returns the process's id if it runs.
func (p *process) running() (int, bool) {
	file, err := os.OpenFile(p.pidFile(), os.O_RDWR, 0)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	// A shared lock: two who ask at once must not take each other for the process.
	if syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return 0, false
	}
	data, err := os.ReadFile(p.pidFile())
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid, err == nil && pid > 1
}

// outdated reports whether the binary was built after the process started.
func (p *process) outdated(binary string) bool {
	built, err := os.Stat(binary)
	if err != nil {
		return false
	}
	started, err := os.Stat(p.pidFile())
	return err == nil && built.ModTime().After(started.ModTime())
}

// start runs the binary in a session of its own and returns at once. A process that isn't detached dies with this one.
func (p *process) start(binary string, args []string, detached bool) error {
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		p.logStart = info.Size()
	}
	pidFile, err := os.OpenFile(p.pidFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer pidFile.Close()
	if err := lock(pidFile); err != nil {
		return fmt.Errorf("%s runs already: locking %s: %w", p.name, p.pidFile(), err)
	}
	// The predecessor's number must not pass for the new process's.
	if err := pidFile.Truncate(0); err != nil {
		return err
	}

	cmd := exec.Command(binary, args...)
	cmd.Dir = p.dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{pidFile}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !detached {
		dieWithParent(cmd.SysProcAttr)
	}
	started := make(chan error)
	go func() {
		// The system kills the child when the thread that made it ends, so the thread must stay until the child is
		// gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	if _, err := fmt.Fprintln(pidFile, cmd.Process.Pid); err != nil {
		// Nobody could stop it any more.
		return errors.Join(err, cmd.Process.Kill())
	}
	return nil
}

// lock takes the lock that a process holds while it runs, waiting out those who are just asking whether it does.
func lock(file *os.File) error {
	var err error
	_ = wait.PollUntilContextTimeout(context.Background(), pollEvery, time.Second, true, func(context.Context) (bool, error) {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		return err == nil, nil
	})
	return err
}

// waitReady returns when url answers 200. It fails, with the tail of the log, if the process ends or the time is up.
func (p *process) waitReady(ctx context.Context, client *http.Client, url string, timeout time.Duration) error {
	last := errors.New("not asked yet")
	err := wait.PollUntilContextTimeout(ctx, pollEvery, timeout, true, func(ctx context.Context) (bool, error) {
		if _, running := p.running(); !running {
			return false, errors.New("it has ended")
		}
		answer := probe(ctx, client, url)
		if ctx.Err() == nil {
			last = answer
		}
		return answer == nil, nil
	})
	if err == nil {
		return nil
	}
	if wait.Interrupted(err) {
		err = fmt.Errorf("%w; last answer: %w", err, last)
	}
	return fmt.Errorf("%s did not get ready: %w\n%s ends in:\n%s", p.name, err, p.logFile(), p.tail())
}

// probe asks once.
func probe(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	body, err := Get(ctx, client, url)
	if err != nil {
		return err
	}
	return body.Close()
}

// stop ends the process and its group and returns when it is gone. Zero grace kills at once.
func (p *process) stop(ctx context.Context, grace time.Duration) error {
	pid, running := p.running()
	if !running {
		return nil
	}
	gone := func(context.Context) (bool, error) {
		_, running := p.running()
		return !running, nil
	}
	if grace > 0 {
		if err := signalGroup(pid, syscall.SIGTERM); err != nil {
			return fmt.Errorf("stopping %s: %w", p.name, err)
		}
		if wait.PollUntilContextTimeout(ctx, pollEvery, grace, true, gone) == nil {
			return nil
		}
	}
	if err := signalGroup(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing %s: %w", p.name, err)
	}
	// Even when the caller has no more time: a process that outlives its killing would hold its ports and data.
	if err := wait.PollUntilContextTimeout(context.WithoutCancel(ctx), pollEvery, killGrace, true, gone); err != nil {
		return fmt.Errorf("%s (process %d) does not end: %w", p.name, pid, err)
	}
	return nil
}

// signalGroup signals a process and its children; one that is gone by now is no error.
func signalGroup(pid int, signal syscall.Signal) error {
	if err := syscall.Kill(-pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// tail returns the end of what the present run has logged.
func (p *process) tail() string {
	file, err := os.Open(p.logFile())
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err.Error()
	}
	from := max(p.logStart, info.Size()-tailBytes)
	data := make([]byte, info.Size()-from)
	n, err := file.ReadAt(data, from)
	if n == 0 && err != nil {
		return "(nothing)"
	}
	return string(data[:n])
}
