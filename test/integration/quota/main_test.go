// Package quota tests hierarchical quotas on a real control plane with kube-controller-manager. Both servers are
// processes, and everybody has the permissions that RBAC gives.
package quota

import (
	"context"
	"os"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binDir = "../../../_output/bin"

var (
	cp *controlplane.ControlPlane
	// installation runs the servers.
	installation *controlplane.Installation
	// admin is of the group system:masters.
	admin suite.User
)

func TestMain(m *testing.M) { os.Exit(suite.RunConfigured(m, binDir, recount, setUp)) }

// recount has kube-controller-manager count the use often. An object that is created while it counts, because limits
// change, is missed until then.
func recount(config *controlplane.Config) error {
	config.ControllerManagerArgs = []string{"--resource-quota-sync-period=2s"}
	return nil
}

func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if admin, err = suite.NewUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	installation, err = suite.Install(ctx, cp, suite.Artifacts, suite.Servers(suite.PatientCreates)[:1]...)
	if err != nil {
		return err
	}
	return suite.Start(ctx, cp, installation, propagator())
}

// propagator is the only one.
func propagator(flags ...string) controlplane.Server {
	return controlplane.Server{Name: "hns-propagator", Args: append([]string{"--leader-elect=false"}, flags...)}
}
