// Command record writes ../testdata: a cluster's namespaces, what is in them and our store, as a build left them that let its tenants do
// what later builds refuse. The upgrade test starts from these files.
//
// The states come from acts that later builds refuse, so record runs in a checkout of the build to upgrade from:
//
//	git worktree add /tmp/from 924bb9d
//	cp -r test/integration/upgrade /tmp/from/test/integration/
//	cd /tmp/from && make build && go run ./test/integration/upgrade/record
//
// Names, UIDs and times differ between two recordings, nothing else does.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	binDir       = "_output/bin"
	testdata     = "test/integration/upgrade/testdata"
	managedLabel = "--managed-namespace-label=team|desk"
)

var servers = []controlplane.Server{
	{Name: "hnc-apiserver", SharedEtcd: true, Args: []string{managedLabel}},
	{Name: "hnc-propagator", Args: []string{managedLabel, "--leader-elect=false"}},
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "record-")
	if err != nil {
		return err
	}
	cp, err := controlplane.Start(ctx, controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w; the servers' logs are in %s", err, dir)
		}
		err = errors.Join(err, cp.Stop(context.WithoutCancel(ctx)))
	}()
	installation, err := cp.Install(ctx, "artifacts/dev", "artifacts/policies")
	if err != nil {
		return err
	}
	for _, server := range servers {
		port, err := cp.StartServer(ctx, installation, server)
		if err != nil {
			return err
		}
		if server.Name == "hnc-apiserver" {
			if err := cp.Register(ctx, installation, port); err != nil {
				return err
			}
		}
	}
	w := &world{ctx: ctx, cp: cp}
	for _, s := range states {
		fmt.Println("-->", s.name)
		if err := w.make(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return w.dump()
}
