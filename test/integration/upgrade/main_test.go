// Package upgrade tests that the servers take over what an earlier build has left: ordinary trees, and the states that its tenants could bring
// about and that are refused now. testdata holds such a cluster; record says how it is made.
package upgrade

import (
	"context"
	"os"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir       = "../../../_output/bin"
	managedLabel = "--managed-namespace-label=team|desk"
)

var (
	// What is new in Kubernetes' libraries is off, as in a careful upgrade.
	apiServer  = controlplane.Server{Name: "hnc-apiserver", SharedEtcd: true, Args: []string{managedLabel, "--emulated-version=kube=1.36"}}
	propagator = controlplane.Server{Name: "hnc-propagator", Args: []string{managedLabel, "--leader-elect=false"}}
)

// user is somebody's clients.
type user struct{ suite.User }

var (
	cp *controlplane.ControlPlane
	// root is of the group system:masters.
	root user
	// recorded is what testdata holds.
	recorded []entry
	// loaded is what was there before the propagator started.
	loaded map[string]object
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

// setUp starts our servers on what was recorded. The controllers of Kubernetes wait until all of it is there: they would delete what belongs to
// a namespace that comes later.
func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	var err error
	if root, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	installation, err := cp.Install(ctx, "../../../artifacts/dev", "../../../artifacts/policies")
	if err != nil {
		return err
	}
	if err := aggregated(ctx); err != nil {
		return err
	}
	if err := cp.StopProcess(ctx, "kube-controller-manager"); err != nil {
		return err
	}
	if recorded, err = load(ctx); err != nil {
		return err
	}
	port, err := cp.StartServer(ctx, installation, apiServer)
	if err != nil {
		return err
	}
	if err := cp.Register(ctx, installation, port); err != nil {
		return err
	}
	if loaded, err = present(ctx); err != nil {
		return err
	}
	if _, err := controlplane.Start(ctx, suite.Config(cp.Dir(), binDir)); err != nil {
		return err
	}
	_, err = cp.StartServer(ctx, installation, propagator)
	return err
}

// aggregated waits until the built-in roles hold ours, which is one of those controllers' work.
func aggregated(ctx context.Context) error {
	for role, resources := range map[string][]string{
		"edit":  {"hierarchies/tree", "hierarchies/plan"},
		"admin": {"hierarchies/tree", "hierarchies/plan", "hierarchies"},
	} {
		if err := wait.PollUntilContextTimeout(ctx, suite.Interval, suite.Deadline, true, func(ctx context.Context) (bool, error) {
			role, err := root.RbacV1().ClusterRoles().Get(ctx, role, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			var held []string
			for _, rule := range role.Rules {
				held = append(held, rule.Resources...)
			}
			return !slices.ContainsFunc(resources, func(r string) bool { return !slices.Contains(held, r) }), nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// as returns the clients of a user, who has the rights that were recorded.
func as(t *testing.T, name string) user {
	t.Helper()
	config, err := cp.User(name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := clients(name, config)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func clients(name string, config *rest.Config) (user, error) {
	u, err := suite.NewUser(name, config)
	return user{u}, err
}
