// Package reads tests what the server computes for its readers: the tree below a namespace, and the namespaces that a
// user may see. Both servers run as subprocesses on a real control plane; users have their permissions from RBAC.
package reads

import (
	"context"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
)

// user is somebody's clients.
type user struct{ suite.User }

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// root is of the group system:masters.
	root user
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if root, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	if installation, err = suite.Install(ctx, cp, []string{"../../../artifacts/dev"}, suite.Servers()...); err != nil {
		return err
	}
	return aggregated(ctx)
}

// aggregated returns when Kubernetes has aggregated its own roles, which takes some seconds in a new cluster.
func aggregated(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, suite.Interval, suite.Deadline, true, func(ctx context.Context) (bool, error) {
		view, err := root.RbacV1().ClusterRoles().Get(ctx, "view", metav1.GetOptions{})
		return err == nil && len(view.Rules) > 0, err
	})
}

func clients(name string, config *rest.Config) (user, error) {
	u, err := suite.NewUser(name, config)
	return user{u}, err
}
