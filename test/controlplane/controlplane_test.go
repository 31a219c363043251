package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const binDir = "../../_output/bin"

// started is the control plane of all tests. Each leaves it running, without a registered server.
var started struct {
	sync.Once
	config Config
	cp     *ControlPlane
	err    error
}

// shared returns the control plane of all tests, with the artifacts of the development cluster and stand-ins for our
// servers.
func shared(t *testing.T) *ControlPlane {
	t.Helper()
	started.Do(func() {
		dir, err := os.MkdirTemp("", "controlplane")
		if err != nil {
			started.err = err
			return
		}
		started.config = Config{Dir: dir, BinDir: filepath.Join(dir, "bin"), UnsafeNoFsync: true}
		if started.err = linkBinaries(started.config.BinDir); started.err != nil {
			return
		}
		ctx := context.WithoutCancel(t.Context())
		if started.cp, started.err = Start(ctx, started.config); started.err == nil {
			_, started.err = started.cp.Install(ctx, devKustomization)
		}
	})
	if started.err != nil {
		t.Fatal(started.err)
	}
	return started.cp
}

func stopShared() error {
	if started.config.Dir == "" {
		return nil
	}
	return errors.Join(stopAll(context.Background(), started.config.Dir, 0), os.RemoveAll(started.config.Dir))
}

// startAgain starts what does not run of the shared control plane.
func startAgain(t *testing.T) *ControlPlane {
	t.Helper()
	cp, err := Start(t.Context(), started.config)
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

func client(t *testing.T, cp *ControlPlane) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func createNamespace(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestANamespaceComesAndGoes(t *testing.T) {
	c := client(t, shared(t))
	createNamespace(t, c, "short-lived")
	if err := c.CoreV1().Namespaces().Delete(t.Context(), "short-lived", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Namespaces().Get(ctx, "short-lived", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		t.Fatalf("the namespace is not gone: %v", err)
	}
}

func TestARestartKeepsDataAndAddresses(t *testing.T) {
	first := shared(t)
	createNamespace(t, client(t, first), "kept")
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{etcd, kubeAPIServer, kubeControllerManager} {
		if first.Running(name) {
			t.Errorf("%s runs after Stop", name)
		}
	}
	kubeconfig, err := os.ReadFile(first.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}

	second := startAgain(t)
	again, err := os.ReadFile(second.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if string(kubeconfig) != string(again) {
		t.Error("the kubeconfig has changed")
	}
	// The first one's client: same address, same credentials.
	if _, err := client(t, first).CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestStartTakesOverWhatRunsAndReplacesWhatWasKilled(t *testing.T) {
	first := shared(t)
	dir := first.Dir()
	etcdBefore, _ := newProcess(dir, etcd).running()
	serverBefore, _ := newProcess(dir, kubeAPIServer).running()
	if err := first.Kill(t.Context(), kubeAPIServer); err != nil {
		t.Fatal(err)
	}
	if first.Running(kubeAPIServer) {
		t.Fatal("kube-apiserver runs after Kill")
	}

	startAgain(t)
	if etcdAfter, _ := newProcess(dir, etcd).running(); etcdAfter != etcdBefore {
		t.Errorf("etcd is process %d, was %d", etcdAfter, etcdBefore)
	}
	if serverAfter, running := newProcess(dir, kubeAPIServer).running(); !running || serverAfter == serverBefore {
		t.Errorf("kube-apiserver is process %d (running: %t), was %d", serverAfter, running, serverBefore)
	}
}

func TestAUserHasThePermissionsOfItsGroupsOnly(t *testing.T) {
	cp := shared(t)
	config, err := cp.User("alice", "nobodies")
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"alice"`) {
		t.Errorf("want alice to be forbidden, got %v", err)
	}
}

func TestTheErrorOfAFailedStartEndsInTheLog(t *testing.T) {
	dir := t.TempDir()
	_, err := Start(t.Context(), Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true, APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("want the reason from the log, got %v", err)
	}
	if _, running := newProcess(dir, etcd).running(); running {
		t.Error("etcd is left running")
	}
}

func TestMissingBinariesAreNamed(t *testing.T) {
	_, err := Start(t.Context(), Config{Dir: filepath.Join(t.TempDir(), "state"), BinDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("want advice to run make build, got %v", err)
	}
}
