package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// cluster is a control plane with this project installed, two trees, and nodes that kwok may simulate: their pods run
// no containers.
type cluster struct {
	cp        *controlplane.ControlPlane
	simulator context.CancelFunc
	processes []*exec.Cmd
}

// kubeAPIServerArgs make room for 200 Services, which a spec creates, in each view.
var kubeAPIServerArgs = []string{"--service-cluster-ip-range=10.0.0.0/16"}

// start runs a new cluster, in which nothing simulates nodes yet. The cluster is not nil if something of it runs.
func start(ctx context.Context, dir string) (*cluster, error) {
	state := filepath.Join(dir, "cluster")
	if err := os.RemoveAll(state); err != nil {
		return nil, err
	}
	cp, err := controlplane.Start(ctx, controlplane.Config{Dir: state, BinDir: binDir, UnsafeNoFsync: true, APIServerArgs: kubeAPIServerArgs,
		// Nodes and pods are simulated.
		ControllerManagerArgs: []string{"--controllers=*"}})
	if err != nil {
		return nil, err
	}
	c := &cluster{cp: cp}
	installation, err := cp.Install(ctx, "artifacts/dev", "artifacts/policies")
	if err != nil {
		return c, err
	}
	// What hns-propagator may do for views. Without its APIService, hns-gateway is not asked.
	if _, err := cp.Install(ctx, "artifacts/dev-view"); err != nil {
		return c, err
	}
	port, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-apiserver"})
	if err != nil {
		return c, err
	}
	if err := cp.Register(ctx, installation, port); err != nil {
		return c, err
	}
	if _, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-propagator"}); err != nil {
		return c, err
	}
	objects, err := cp.Render(ctx, "test/conformance/cluster")
	if err != nil {
		return c, err
	}
	return c, cp.Apply(ctx, objects)
}

// stages are those of kwok: pods are ready at once, those of Jobs succeed, and deleted ones are gone.
var stages = []string{
	"node/fast/node-initialize.yaml", "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"pod/fast/pod-ready.yaml", "pod/fast/pod-complete.yaml", "pod/fast/pod-delete.yaml",
}

// simulate starts kwok, and kube-scheduler.
func (c *cluster) simulate(ctx context.Context, dir string) error {
	kwok, err := module(ctx, "{{.Dir}}", "sigs.k8s.io/kwok")
	if err != nil {
		return err
	}
	args := []string{"--manage-all-nodes", "--node-ip=10.1.0.1", "--cidr=10.244.0.0/16", "--node-lease-duration-seconds=40"}
	for _, stage := range stages {
		args = append(args, "--config="+filepath.Join(kwok, "kustomize/stage", stage))
	}
	// They end before the cluster does, and not with the context: specs that it interrupts delete their pods.
	ctx, c.simulator = context.WithCancel(context.WithoutCancel(ctx))
	port, err := c.cp.Port("kube-scheduler")
	if err != nil {
		return err
	}
	return errors.Join(
		c.launch(ctx, dir, "kwok", args...),
		c.launch(ctx, dir, "kube-scheduler", "--leader-elect=false", "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port)))
}

func (c *cluster) launch(ctx context.Context, dir, name string, args ...string) error {
	log, err := os.Create(c.cp.Log(name))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, name), append(args, "--kubeconfig="+c.cp.Kubeconfig())...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.processes = append(c.processes, cmd)
	return nil
}

func (c *cluster) stop(ctx context.Context) error {
	if c.simulator != nil {
		c.simulator()
	}
	for _, cmd := range c.processes {
		_ = cmd.Wait() // It was killed.
	}
	return c.cp.Stop(ctx)
}
