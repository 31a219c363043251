// Package reservations tests that hierarchical quotas hold against concurrent writers while replicas of hns-apiserver
// come and go, by replaying what etcd has committed. All servers are processes.
package reservations

import (
	"context"
	"os"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binDir = "../../../_output/bin"

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// admin is of the group system:masters.
	admin suite.User
	// replicas are the replicas of hns-apiserver, which share an etcd. Only the first one is running at first.
	replicas = []controlplane.Server{
		{Name: "hns-apiserver", SharedEtcd: true, Args: []string{"--max-waiting-requests-per-user=2"}},
		{Name: "hns-apiserver", SharedEtcd: true, Replica: 1},
	}
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if admin, err = suite.NewUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	installation, err = suite.Install(ctx, cp, suite.Artifacts, replicas[0], controlplane.Server{Name: "hns-propagator"})
	return err
}
