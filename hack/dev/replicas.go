package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	replicatedOverlay = "artifacts/dev-ha"
	// servicePort is the port of the Service hns-apiserver.
	servicePort      = 443
	superviseCommand = "supervise"
	// supervisorBinary is this command, built, which outlives `make up`.
	supervisorBinary = binDir + "/hns-supervisor"
)

// replicate makes the cluster in dir one of several replicas if that is asked for, or has been before.
func (c *installed) replicate(dir string, replicated bool) error {
	members := controlplane.EtcdMembers(3)
	_, err := os.Stat(filepath.Join(dir, members[0].Process+"-data"))
	if err != nil && !replicated {
		return nil
	}
	if _, single := os.Stat(filepath.Join(dir, c.servers[0].Process())); single == nil {
		return fmt.Errorf("the cluster in %s has one replica, which embeds its etcd: run `make down`, and choose another directory (DEV=)", dir)
	}
	if c.sync || c.view {
		return fmt.Errorf("the cluster in %s has several replicas, or hns-sync and hns-gateway, not both: choose another directory (DEV=)", dir)
	}
	address, err := controlplane.HostAddress()
	if err != nil {
		return err
	}
	c.members = members
	c.overlays[0] = replicatedOverlay
	c.servers = nil
	for i := range 3 {
		c.servers = append(c.servers, controlplane.Server{Name: hnc.APIServerName, Replica: i, Address: address})
	}
	for i := range 2 {
		c.servers = append(c.servers, controlplane.Server{Name: hnc.PropagatorName, Replica: i})
	}
	return nil
}

// config is that of the control plane.
func (c *installed) config(dir string) controlplane.Config {
	config := controlplane.Config{Dir: dir, BinDir: binDir, Detached: true}
	if c.members != nil {
		config.APIServerArgs = []string{"--enable-aggregator-routing"}
	}
	return config
}

// startReplicas starts what does not run of etcd and of the servers, and registers our API with kube-apiserver.
func startReplicas(ctx context.Context, cp *controlplane.ControlPlane, what *installed) error {
	if err := controlplane.StopSupervisor(ctx, cp.Dir()); err != nil {
		return err
	}
	step("launching %d members of etcd", len(what.members))
	etcd, err := controlplane.StartEtcd(ctx, cp, what.members)
	if err != nil {
		return err
	}
	step("installing %v", what.overlays)
	installation, err := cp.Install(ctx, what.overlays...)
	if err != nil {
		return err
	}
	registered := false
	for _, server := range what.servers {
		// The propagator reads our API through kube-apiserver.
		if server.Name == hnc.PropagatorName && !registered {
			if err := cp.Register(ctx, installation, servicePort); err != nil {
				return err
			}
			registered = true
		}
		step("launching %s", server.Process())
		server.Etcd = &etcd
		if _, err := cp.StartServer(ctx, installation, server); err != nil {
			return err
		}
		if server.Name == hnc.APIServerName {
			if err := controlplane.Publish(ctx, cp, server, true); err != nil {
				return err
			}
		}
	}
	step("launching what restarts them, and routes requests to those that are ready")
	return controlplane.StartSupervisor(cp, supervisorBinary, "-dir", cp.Dir(), superviseCommand)
}

// supervise restarts what ends, and routes requests to the replicas that are ready, until the context ends. It is the
// process that startReplicas starts: its working directory is the cluster's.
func supervise(ctx context.Context, dir string, what *installed) error {
	config := what.config(dir)
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	config.BinDir = filepath.Dir(executable)
	cp, err := controlplane.Start(ctx, config)
	if err != nil {
		return err
	}
	installation, err := controlplane.Installed(ctx, cp)
	if err != nil {
		return err
	}
	etcd, err := controlplane.StartEtcd(ctx, cp, what.members)
	if err != nil {
		return err
	}
	for i := range what.servers {
		what.servers[i].Etcd = &etcd
	}
	controlplane.NewSupervisor(cp, installation, what.members, what.servers).Run(ctx)
	return nil
}
