package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Config says where a control plane lives and how it runs.
type Config struct {
	// Dir holds all state. It is created when absent. Two control planes must not share one.
	Dir string
	// BinDir holds the binaries etcd, kube-apiserver, kube-controller-manager and kubectl, and our servers'.
	BinDir string
	// Detached lets the processes outlive this one (`make up`). Otherwise they are killed when it ends, however it ends
	// (on Linux; elsewhere only Stop ends them).
	Detached bool
	// UnsafeNoFsync makes etcd faster and its data unsafe against a crash of the machine: for suites.
	UnsafeNoFsync bool
	// APIServerArgs and ControllerManagerArgs are added after our own flags of these binaries, so they win. Flags that are
	// lists get more items.
	APIServerArgs, ControllerManagerArgs []string
	// Timeout limits how long one process may take until it is ready. Zero means two minutes.
	Timeout time.Duration
}

// ControlPlane is a running control plane. Its methods may be called concurrently.
type ControlPlane struct {
	config Config
	ports  *ports
	pki    *pki
	admin  *rest.Config
}

// Start runs a control plane, or what is missing of it, and returns when all of it is ready. A process that runs
// already is kept unless its binary is newer than it. When Start fails, what it started goes on running if
// Config.Detached, for a look at it, and is stopped otherwise. The error of a process that died or did not get ready
// ends in its log's tail.
func Start(ctx context.Context, config Config) (*ControlPlane, error) {
	if config.Timeout == 0 {
		config.Timeout = 2 * time.Minute
	}
	if err := config.resolve(); err != nil {
		return nil, err
	}
	cp := &ControlPlane{config: config}
	var err error
	if cp.ports, err = loadPorts(filepath.Join(config.Dir, "ports.json")); err != nil {
		return nil, err
	}
	if cp.pki, err = loadPKI(filepath.Join(config.Dir, "pki")); err != nil {
		return nil, err
	}
	if err := (kubeProcesses{cp}).start(ctx); err != nil {
		if !config.Detached {
			err = errors.Join(err, Stop(context.WithoutCancel(ctx), config.Dir))
		}
		return nil, err
	}
	return cp, nil
}

// resolve makes the paths absolute and checks that the binaries exist.
func (c *Config) resolve() error {
	var err error
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	if c.BinDir, err = filepath.Abs(c.BinDir); err != nil {
		return err
	}
	for _, binary := range []string{etcd, kubeAPIServer, kubeControllerManager, kubectl} {
		if _, err := os.Stat(filepath.Join(c.BinDir, binary)); err != nil {
			return fmt.Errorf("%s is not built, run `make build`: %w", binary, err)
		}
	}
	// The directory holds private keys and the cluster's data.
	return os.MkdirAll(c.Dir, 0o700)
}

// Stop ends every process of this control plane, our servers first. Data stay.
func (cp *ControlPlane) Stop(ctx context.Context) error { return Stop(ctx, cp.config.Dir) }

// Stop ends every process of the control plane in dir, no matter which process started it, and returns when they are
// gone. One that ignores SIGTERM is killed. Nothing running, or no such directory, is no error.
func Stop(ctx context.Context, dir string) error { return stopAll(ctx, dir, stopGrace) }

// KillAll ends every process of the control plane with SIGKILL, for callers who need its state no longer.
func (cp *ControlPlane) KillAll(ctx context.Context) error { return stopAll(ctx, cp.config.Dir, 0) }

func stopAll(ctx context.Context, dir string, grace time.Duration) error {
	pidFiles, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	if err != nil {
		return err
	}
	// Clients go before what they talk to, or they spend their last seconds retrying.
	var errs []error
	for _, prefix := range []string{supervisor, "", kubeControllerManager, hnc.APIServerName, hnsEtcd, kubeAPIServer, etcd} {
		for _, file := range pidFiles {
			name := strings.TrimSuffix(filepath.Base(file), ".pid")
			if stopRank(name) == prefix {
				errs = append(errs, newProcess(dir, name).stop(ctx, grace))
			}
		}
	}
	return errors.Join(errs...)
}

// stopRank returns the server that stands for name in the order of stopping; the empty one goes first.
func stopRank(name string) string {
	for _, server := range []string{supervisor, kubeControllerManager, hnc.APIServerName, hnsEtcd, kubeAPIServer, etcd} {
		if strings.HasPrefix(name, server) {
			return server
		}
	}
	return ""
}

// Dir returns the absolute directory of the state.
func (cp *ControlPlane) Dir() string { return cp.config.Dir }

// RESTConfig returns a copy of the cluster administrator's (group system:masters) configuration, without a client-side
// rate limit.
func (cp *ControlPlane) RESTConfig() *rest.Config { return rest.CopyConfig(cp.admin) }

// Kubeconfig returns the path of the cluster administrator's kubeconfig.
func (cp *ControlPlane) Kubeconfig() string { return filepath.Join(cp.config.Dir, "kubeconfig") }

// Port returns the loopback port reserved under name; the same name gets the same port for as long as Dir exists.
func (cp *ControlPlane) Port(name string) (int, error) { return cp.ports.get(name) }

// CAFile returns the path of the authority that has issued every serving certificate but etcd's.
func (cp *ControlPlane) CAFile() string { return cp.pki.cluster.CertFile }

// Log returns the path of a process's log, such as that of "kube-apiserver".
func (cp *ControlPlane) Log(process string) string {
	return newProcess(cp.config.Dir, process).logFile()
}

// Running reports whether the process of that name runs.
func (cp *ControlPlane) Running(process string) bool {
	_, running := newProcess(cp.config.Dir, process).running()
	return running
}

// StopProcess ends one process gracefully, such as "hns-apiserver" or "kube-apiserver", and returns when it is gone.
// Start brings back one of Kubernetes', StartServer one of ours.
func (cp *ControlPlane) StopProcess(ctx context.Context, process string) error {
	return StopProcess(ctx, cp.config.Dir, process)
}

// StopProcess ends one process of the control plane in dir gracefully; any process may have started it. One that
// doesn't run is no error.
func StopProcess(ctx context.Context, dir, process string) error {
	return newProcess(dir, process).stop(ctx, stopGrace)
}

// Kill ends one process with SIGKILL, as a crash does, and returns when it is gone. It is an error if it doesn't run.
func (cp *ControlPlane) Kill(ctx context.Context, process string) error {
	p := newProcess(cp.config.Dir, process)
	if _, running := p.running(); !running {
		return fmt.Errorf("%s does not run", process)
	}
	return p.stop(ctx, 0)
}
