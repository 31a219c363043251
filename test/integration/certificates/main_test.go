// Package certificates tests the certificates that hns-propagator issues, with lives of less than a minute, since
// hns-apiserver gets its certificate from nowhere else, and the certificate with which hns-apiserver authenticates to
// etcd.
package certificates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	dev    = "../../../artifacts/dev"
	secret = "hns-apiserver-cert"
)

// Lives of the authority and of the certificates. The authority is replaced after 30 seconds, and the next one signs
// 4.5 seconds later.
var lives = []string{"--manage-certificates", "--ca-lifetime=45s", "--certificate-lifetime=15s"}

var (
	admin suite.User
	cp    *controlplane.ControlPlane
	port  int
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

// setUp starts the servers in the order of a first installation: hns-apiserver cannot start before hns-propagator has
// issued its certificate.
func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if admin, err = suite.NewUser("admin", cp.RESTConfig()); err != nil {
		return err
	}
	installation, err := cp.Install(ctx, dev)
	if err != nil {
		return err
	}
	if port, err = cp.Port("hns-apiserver"); err != nil {
		return err
	}
	etcd, err := startEtcd(ctx)
	if err != nil {
		return err
	}
	if err := register(ctx); err != nil {
		return err
	}
	propagator := make(chan error, 1)
	go func() {
		// Returns when it is ready, which needs hns-apiserver.
		_, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-propagator", Args: lives})
		propagator <- err
	}()
	volume := filepath.Join(cp.Dir(), "tls")
	mounted := make(chan error, 1)
	go func() { mounted <- mount(ctx, admin, volume) }()
	if err := wait.PollUntilContextTimeout(ctx, suite.Interval, suite.Deadline, true, func(context.Context) (bool, error) {
		_, err := os.Stat(filepath.Join(volume, "tls.crt"))
		return err == nil, nil
	}); err != nil {
		return fmt.Errorf("no certificate: %w", err)
	}
	_, err = cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-apiserver", Etcd: etcd, Args: []string{
		"--tls-cert-file=" + filepath.Join(volume, "tls.crt"), "--tls-private-key-file=" + filepath.Join(volume, "tls.key"),
		// For the health check of the test, which connects to the address.
		"--tls-sni-cert-key=" + installation.Serving.CertFile + "," + installation.Serving.KeyFile + ":127.0.0.1",
	}})
	return errors.Join(err, <-propagator)
}

// register applies the APIServices as an installation does: without caBundle.
func register(ctx context.Context) error {
	objects, err := cp.Render(ctx, dev)
	if err != nil {
		return err
	}
	var registration []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() != "APIService" {
			continue
		}
		if err := unstructured.SetNestedField(object.Object, int64(port), "spec", "service", "port"); err != nil {
			return err
		}
		registration = append(registration, object)
	}
	return cp.Apply(ctx, registration)
}

// mount keeps a directory like the kubelet keeps the volume of a Secret: a new directory for each version, and one link
// that is replaced.
func mount(ctx context.Context, client kubernetes.Interface, volume string) error {
	version := ""
	return wait.PollUntilContextCancel(ctx, suite.Interval, true, func(ctx context.Context) (bool, error) {
		found, err := client.CoreV1().Secrets(controlplane.Namespace).Get(ctx, secret, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && found.ResourceVersion == version {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		version = found.ResourceVersion
		dir := filepath.Join(volume, "..version-"+version)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return false, err
		}
		for name, data := range found.Data {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				return false, err
			}
		}
		link := filepath.Join(volume, "..data")
		old, _ := filepath.EvalSymlinks(link)
		if err := errors.Join(os.Symlink(filepath.Base(dir), link+"-new"), os.Rename(link+"-new", link)); err != nil {
			return false, err
		}
		for name := range found.Data {
			if err := os.Symlink(filepath.Join("..data", name), filepath.Join(volume, name)); err != nil && !errors.Is(err, os.ErrExist) {
				return false, err
			}
		}
		if old == "" {
			return false, nil
		}
		return false, os.RemoveAll(old)
	})
}

// deadline is the time after which a poll fails.
const deadline = suite.Deadline + time.Minute
