package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	viewOverlay = "artifacts/dev-view"
	sampleView  = "artifacts/sample-view"
)

// gateway is hns-gateway.
var gateway = controlplane.Server{Name: hnc.GatewayName}

// viewed reports whether hns-gateway has run in the cluster in dir.
func viewed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, gateway.Process()+".log"))
	return err == nil
}

// startGateway installs hns-gateway, starts it if it does not run, and registers its API.
func startGateway(ctx context.Context, cp *controlplane.ControlPlane) error {
	if err := controlplane.RequireBinaries(binDir, gateway.Name); err != nil {
		return err
	}
	step("installing %s", viewOverlay)
	installation, err := cp.Install(ctx, viewOverlay)
	if err != nil {
		return err
	}
	step("launching %s", gateway.Name)
	port, err := cp.StartServer(ctx, installation, gateway)
	if err != nil {
		return err
	}
	return cp.Register(ctx, installation, port)
}

// applyView creates the TenantView of the sample, and waits until it is ready.
func applyView(ctx context.Context, cp *controlplane.ControlPlane) error {
	step("creating a view of the tree acme (%s)", sampleView)
	objects, err := cp.Render(ctx, sampleView)
	if err != nil {
		return err
	}
	if err := cp.Apply(ctx, objects); err != nil {
		return err
	}
	kubectl := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), "--kubeconfig", cp.Kubeconfig(), "wait", "-n", "acme", "tenantviews/view",
		"--for=condition=Ready", "--timeout=60s")
	if out, err := kubectl.CombinedOutput(); err != nil {
		return fmt.Errorf("the view is not ready: %w: %s", err, out)
	}
	fmt.Print(viewReady)
	return nil
}

const viewReady = `
The namespaces of acme are a cluster of their own. Nobody in system:masters may use it, so act as jane:

  kubectl hns view kubeconfig acme --as jane --output-file acme.kubeconfig
  kubectl --kubeconfig acme.kubeconfig get namespaces
  kubectl --kubeconfig acme.kubeconfig create namespace dev
`
