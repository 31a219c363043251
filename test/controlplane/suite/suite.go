// Package suite runs the tests of a package on a control plane of their own.
package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// PatientCreates is a flag of hns-apiserver for suites that expect sub-namespaces to be ready when their creation
// returns, on any machine.
const PatientCreates = "--ready-timeout=55s"

// Run starts a control plane with the binaries in binDir, has it set up, runs the tests, stops what runs, and returns
// what TestMain has to exit with. The directory of the control plane is kept if something has failed: the logs in it
// show why.
func Run(m *testing.M, binDir string, setUp func(context.Context, *controlplane.ControlPlane) error) int {
	return RunConfigured(m, binDir, func(*controlplane.Config) error { return nil }, setUp)
}

// RunConfigured is Run with a control plane that is configured otherwise.
func RunConfigured(m *testing.M, binDir string, configure func(*controlplane.Config) error, setUp func(context.Context, *controlplane.ControlPlane) error) int {
	dir, err := os.MkdirTemp("", "hns-suite-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	config := Config(dir, binDir)
	if err := configure(&config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code, err := run(m, config, setUp)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code != 0 {
		fmt.Fprintln(os.Stderr, "the logs of the servers are kept in", dir)
		return code
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(m *testing.M, config controlplane.Config, setUp func(context.Context, *controlplane.ControlPlane) error) (code int, err error) {
	ctx := context.Background()
	cp, err := controlplane.Start(ctx, config)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cp.KillAll(ctx)) }()
	if err := setUp(ctx, cp); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// Config is that of the control planes of suites: nothing in them has to survive a crash of the machine.
func Config(dir, binDir string) controlplane.Config {
	return controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true}
}
