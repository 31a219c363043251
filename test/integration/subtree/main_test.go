// Package subtree tests on a real control plane the lists and watches across a subtree. Both servers are processes, and
// everybody who reads is a ServiceAccount with the permissions that RBAC gives.
package subtree

import (
	"context"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	people = "people"
)

// user is somebody's clients.
type user struct {
	suite.User
	// kubeconfig is a file.
	kubeconfig string
	// home is the namespace of the ServiceAccount.
	home string
}

var (
	cp *controlplane.ControlPlane
	// admin is of the group system:masters. It makes what the others read.
	admin user

	installation *controlplane.Installation
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	var err error
	if admin, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	servers := suite.Servers()
	servers[0].Args = []string{"--max-subtree-watches-per-user=100", "--authorization-webhook-cache-authorized-ttl=1s"}
	if installation, err = suite.Install(ctx, cp, suite.Artifacts, servers...); err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}
	_, err = admin.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	return err
}

func clients(name string, config *rest.Config) (user, error) {
	u, err := suite.NewUser(name, config)
	return user{User: u}, err
}
