// Package permissions compares what the ClusterRoles of the servers allow with the requests that the servers make, as
// kube-apiserver's audit log has them.
package permissions

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir   = "../../../_output/bin"
	deadline = 2 * time.Minute
	interval = 100 * time.Millisecond
)

const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:hns-system:hns-apiserver", "system:serviceaccount:hns-system:hns-propagator", "system:serviceaccount:hns-system:hns-sync"]
- level: None
`

var (
	cp *controlplane.ControlPlane
	// kube and objects are the administrator's clients.
	kube    kubernetes.Interface
	objects dynamic.Interface
	// auditLog is a file.
	auditLog string
	// local is the directory of the repositories.
	local string
)

func TestMain(m *testing.M) { os.Exit(suite.RunConfigured(m, binDir, audit, setUp)) }

func audit(config *controlplane.Config) error {
	policy := filepath.Join(config.Dir, "audit-policy.yaml")
	auditLog = filepath.Join(config.Dir, "audit.log")
	config.APIServerArgs = []string{"--audit-policy-file=" + policy, "--audit-log-path=" + auditLog}
	return os.WriteFile(policy, []byte(auditPolicy), 0o600)
}

func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if kube, err = kubernetes.NewForConfig(cp.RESTConfig()); err != nil {
		return err
	}
	if objects, err = dynamic.NewForConfig(cp.RESTConfig()); err != nil {
		return err
	}
	installation, err := cp.Install(ctx, "../../../artifacts/dev-sync", "../../../artifacts/policies")
	if err != nil {
		return err
	}
	// Permissions that are gathered from ClusterRoles arrive a moment later.
	err = wait.PollUntilContextTimeout(ctx, interval, deadline, true, func(ctx context.Context) (bool, error) {
		return review(ctx, "hns-propagator", "list", "secrets")
	})
	if err != nil {
		return err
	}
	port, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-apiserver"})
	if err != nil {
		return err
	}
	if err := cp.Register(ctx, installation, port); err != nil {
		return err
	}
	local = filepath.Join(cp.Dir(), "repositories")
	for _, server := range []controlplane.Server{{Name: "hns-propagator"}, {Name: "hns-sync", Args: []string{"--local-repositories=" + local}}} {
		if _, err = cp.StartServer(ctx, installation, server); err != nil {
			return err
		}
	}
	return nil
}
