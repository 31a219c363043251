// Package subtree tests on a real control plane the lists and watches across a subtree. Both servers are processes, and everybody who
// reads is a ServiceAccount with the rights that RBAC gives.
package subtree

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	binDir   = "../../../_output/bin"
	deadline = 2 * time.Minute
	interval = 50 * time.Millisecond
	people   = "people"
)

// user is somebody's clients.
type user struct {
	kubernetes.Interface
	hierarchy versioned.Interface
	dynamic   dynamic.Interface
	config    *rest.Config
	name      string
	// kubeconfig is a file.
	kubeconfig string
}

var (
	cp *controlplane.ControlPlane
	// admin is of the group system:masters. It makes what the others read.
	admin user
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
	dir, err := os.MkdirTemp("", "subtree")
	if err != nil {
		return 0, err
	}
	defer func() {
		// The logs show why a test has failed.
		if code == 0 && err == nil {
			err = os.RemoveAll(dir)
			return
		}
		fmt.Fprintln(os.Stderr, "the logs of the servers are kept in", dir)
	}()
	if cp, err = controlplane.Start(ctx, controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true}); err != nil {
		return 0, err
	}
	defer func() {
		if stopErr := cp.Stop(ctx); err == nil {
			err = stopErr
		}
	}()
	if err := setUp(ctx); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

func setUp(ctx context.Context) error {
	var err error
	if admin, err = clients(cp.RESTConfig()); err != nil {
		return err
	}
	installation, err := cp.Install(ctx, "../../../artifacts/dev", "../../../artifacts/policies")
	if err != nil {
		return err
	}
	port, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hnc-apiserver"})
	if err != nil {
		return err
	}
	if err := cp.Register(ctx, installation, port); err != nil {
		return err
	}
	if _, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hnc-propagator"}); err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}
	_, err = admin.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	return err
}

func clients(config *rest.Config) (user, error) {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return user{}, err
	}
	ours, err := versioned.NewForConfig(config)
	if err != nil {
		return user{}, err
	}
	untyped, err := dynamic.NewForConfig(config)
	return user{Interface: typed, hierarchy: ours, dynamic: untyped, config: config}, err
}
