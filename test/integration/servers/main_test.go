// Package servers tests the API server as a server: several replicas on one etcd, real users with permissions from
// RBAC, admission policies on its resources, and what it means to the cluster's namespaces whether it runs.
package servers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	binDir   = "../../../_output/bin"
	deadline = 2 * time.Minute
	interval = 25 * time.Millisecond
)

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// registered is the server that kube-apiserver forwards to. It shares its etcd with the replicas.
	registered = controlplane.Server{Name: "hns-apiserver", SharedEtcd: true}
	// replicas run in this process, and are only reached at their own ports.
	replicas []*replica
	// admin is of the group system:masters.
	admin *user
)

func TestMain(m *testing.M) {
	if err := logApart(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// logApart makes klog write to the standard error of now. The replicas log while M.Run, under go test -json, sets
// os.Stderr, which klog reads otherwise.
func logApart() error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	klog.SetOutput(os.Stderr)
	return errors.Join(flags.Set("logtostderr", "false"), flags.Set("stderrthreshold", "FATAL"))
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "servers")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if cp, err = controlplane.Start(ctx, controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cp.Stop(ctx)) }()
	if admin, err = newUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return 0, err
	}
	// Without the policies: they are kube-apiserver's, and tested with it.
	if installation, err = cp.Install(ctx, "../../../artifacts/dev"); err != nil {
		return 0, err
	}
	if err := definePermissions(ctx); err != nil {
		return 0, err
	}
	if err := startRegistered(ctx); err != nil {
		return 0, err
	}
	serving, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		for _, replica := range replicas {
			err = errors.Join(err, <-replica.ended)
		}
	}()
	if replicas, err = startReplicas(serving, 3); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// startRegistered runs the server that kube-apiserver forwards to, and returns when it does so.
func startRegistered(ctx context.Context, args ...string) error {
	server := registered
	server.Args = args
	port, err := cp.StartServer(ctx, installation, server)
	if err != nil {
		return err
	}
	return cp.Register(ctx, installation, port)
}

// eventually returns when check does so without an error.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	end := time.Now().Add(deadline)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not in %s: %v", what, deadline, err)
		}
		time.Sleep(interval)
	}
}
