// Package children tests how namespaces come into a tree besides being moved there: children that a parent requires,
// what their creator gets, parents that do not exist yet, and the path that each namespace reports; with both servers
// as subprocesses on a real control plane, as users with permissions from RBAC see it.
package children

import (
	"context"
	"os"
	"path/filepath"
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

// propagator takes the lease of its predecessor, which a test has ended, without waiting long for it.
var propagator = controlplane.Server{Name: "hns-propagator", Args: []string{"--leader-elect=false"}}

// apiServer embeds its etcd.
var apiServer = controlplane.Server{Name: "hns-apiserver", Args: []string{suite.PatientCreates}}

// user is somebody's clients.
type user struct{ suite.User }

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// root is of the group system:masters.
	root user
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	// The configuration is lost with the store of hns-apiserver in some tests.
	configuration, err := filepath.Abs("testdata/configuration.yaml")
	if err != nil {
		return err
	}
	propagator.Args = append(propagator.Args, "--initial-configuration="+configuration)
	if root, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	if installation, err = suite.Install(ctx, cp, suite.Artifacts, apiServer, propagator); err != nil {
		return err
	}
	// The configuration is created when the propagator leads.
	return wait.PollUntilContextTimeout(ctx, suite.Interval, suite.Deadline, true, func(ctx context.Context) (bool, error) {
		_, err := root.HNC.HncV1beta1().HNCConfigurations().Get(ctx, "config", metav1.GetOptions{})
		return err == nil, nil
	})
}

// stopped runs f while the propagator does not run.
func stopped(t *testing.T, f func()) {
	t.Helper()
	if err := cp.StopProcess(t.Context(), propagator.Name); err != nil {
		t.Fatal(err)
	}
	f()
	if _, err := cp.StartServer(t.Context(), installation, propagator); err != nil {
		t.Fatal(err)
	}
}

func clients(name string, config *rest.Config) (user, error) {
	u, err := suite.NewUser(name, config)
	return user{u}, err
}
