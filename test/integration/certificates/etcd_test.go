package certificates

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var (
	etcdMembers = controlplane.EtcdMembers(1)
	// trustedByEtcd is a certificate that etcd accepts, and etcdClient the files that hns-apiserver reads.
	trustedByEtcd, etcdClient controlplane.KeyPair
)

func startEtcd(ctx context.Context) (*controlplane.Etcd, error) {
	etcd, err := controlplane.StartEtcd(ctx, cp, etcdMembers)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cp.Dir(), "etcd-client")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	trustedByEtcd = etcd.Client
	etcdClient = controlplane.KeyPair{CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key")}
	etcd.Client = etcdClient
	return &etcd, useForEtcd(trustedByEtcd)
}

// useForEtcd replaces the files that hns-apiserver reads.
func useForEtcd(pair controlplane.KeyPair) error {
	certificate, err := os.ReadFile(pair.CertFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(pair.KeyFile)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(etcdClient.CertFile, certificate, 0o600), os.WriteFile(etcdClient.KeyFile, key, 0o600))
}

// etcd refuses a certificate that it does not trust: so the server has read the files again when it connects after the
// first replacement, and once more when it is connected after the second.
func TestTheCertificateForEtcdIsReplacedWithoutARestart(t *testing.T) {
	started, err := os.ReadFile(filepath.Join(cp.Dir(), "hns-apiserver.pid"))
	if err != nil {
		t.Fatal(err)
	}
	untrusted, err := cp.FrontProxy()
	if err != nil {
		t.Fatal(err)
	}
	if err := useForEtcd(untrusted); err != nil {
		t.Fatal(err)
	}
	// This ends the connections.
	if err := cp.StopProcess(t.Context(), etcdMembers[0].Process); err != nil {
		t.Fatal(err)
	}
	if _, err := controlplane.StartEtcd(t.Context(), cp, etcdMembers); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "etcd refuses the certificate", func() error {
		log, err := os.ReadFile(cp.Log(etcdMembers[0].Process))
		if err == nil && !strings.Contains(string(log), "certificate signed by unknown authority") {
			err = errors.New("its log says nothing of it")
		}
		return err
	})
	if err := useForEtcd(trustedByEtcd); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "hierarchies are written", func() error {
		_, err := admin.HNC.HncV1beta1().Hierarchies("default").Create(t.Context(), &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	suite.Eventually(t, "the server is ready", func() error { return ready(port) })
	if now, err := os.ReadFile(filepath.Join(cp.Dir(), "hns-apiserver.pid")); err != nil || string(now) != string(started) || !cp.Running("hns-apiserver") {
		t.Errorf("process %s became %s, %v: it was started again, or has ended", started, now, err)
	}
}
