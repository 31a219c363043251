// Package reads tests what the server computes for its readers: the tree below a namespace, and the namespaces that a user
// may see. Both servers run as subprocesses on a real control plane; users have their rights from RBAC.
package reads

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	binDir   = "../../../_output/bin"
	deadline = 2 * time.Minute
	interval = 25 * time.Millisecond
)

// user is somebody's clients.
type user struct {
	kubernetes.Interface
	hnc    versioned.Interface
	config *rest.Config
}

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// root is of the group system:masters.
	root user
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if err := controlplane.RequireBinaries(binDir, "hnc-apiserver", "hnc-propagator"); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "reads")
	if err != nil {
		return 0, err
	}
	defer func() {
		if code != 0 || err != nil {
			fmt.Fprintln(os.Stderr, "the logs of the servers are kept in", dir)
			return
		}
		_ = os.RemoveAll(dir)
	}()
	if cp, err = controlplane.Start(ctx, controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cp.Stop(ctx)) }()
	if root, err = clients(cp.RESTConfig()); err != nil {
		return 0, err
	}
	if installation, err = cp.Install(ctx, "../../../artifacts/dev"); err != nil {
		return 0, err
	}
	port, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hnc-apiserver"})
	if err != nil {
		return 0, err
	}
	if err := cp.Register(ctx, installation, port); err != nil {
		return 0, err
	}
	if _, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hnc-propagator"}); err != nil {
		return 0, err
	}
	if err := aggregated(ctx); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// aggregated returns when Kubernetes has aggregated its own roles, which takes some seconds in a new cluster.
func aggregated(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, interval, deadline, true, func(ctx context.Context) (bool, error) {
		view, err := root.RbacV1().ClusterRoles().Get(ctx, "view", metav1.GetOptions{})
		return err == nil && len(view.Rules) > 0, err
	})
}

func clients(config *rest.Config) (user, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return user{}, err
	}
	hnc, err := versioned.NewForConfig(config)
	return user{kube, hnc, config}, err
}

// eventually polls until f returns no error.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), interval, deadline, true, func(context.Context) (bool, error) {
		last = f()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}
