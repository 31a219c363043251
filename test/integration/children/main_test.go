// Package children tests how namespaces come into a tree besides being moved there: children that a parent requires, what their creator gets,
// parents that do not exist yet, and the path that each namespace reports; with both servers as subprocesses on a real control plane, as
// users with rights from RBAC see it.
package children

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir   = "../../../_output/bin"
	deadline = 2 * time.Minute
	interval = 50 * time.Millisecond
)

// propagator takes the lease of its predecessor, which a test has ended, without waiting long for it.
var propagator = controlplane.Server{Name: "hnc-propagator", Args: []string{"--leader-elect=false", managedLabel}}

// apiServer embeds its etcd.
var apiServer = controlplane.Server{Name: "hnc-apiserver", Args: []string{managedLabel, suite.PatientCreates}}

const managedLabel = "--managed-namespace-label=team|desk"

// user is somebody's clients.
type user struct {
	kubernetes.Interface
	hnc     versioned.Interface
	dynamic dynamic.Interface
	name    string
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
	dir, err := os.MkdirTemp("", "children")
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
	if err := setUp(ctx); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

func setUp(ctx context.Context) error {
	var err error
	if root, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	if installation, err = cp.Install(ctx, "../../../artifacts/dev", "../../../artifacts/policies"); err != nil {
		return err
	}
	port, err := cp.StartServer(ctx, installation, apiServer)
	if err != nil {
		return err
	}
	if err := cp.Register(ctx, installation, port); err != nil {
		return err
	}
	if _, err := cp.StartServer(ctx, installation, propagator); err != nil {
		return err
	}
	// The configuration is created when the propagator leads.
	return wait.PollUntilContextTimeout(ctx, interval, deadline, true, func(ctx context.Context) (bool, error) {
		_, err := root.hnc.HncV1beta1().HNCConfigurations().Get(ctx, "config", metav1.GetOptions{})
		return err == nil, nil
	})
}

func clients(name string, config *rest.Config) (user, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return user{}, err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return user{}, err
	}
	hnc, err := versioned.NewForConfig(config)
	return user{kube, hnc, untyped, name}, err
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
