// Package storage tests where and how hierarchies are stored: in an etcd of others over TLS, below a prefix, encrypted.
package storage

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	secret = "a-parent-that-nobody-should-read"
	prefix = "/elsewhere"
)

var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(suite.Run(m, binDir, func(_ context.Context, started *controlplane.ControlPlane) error {
		cp = started
		return nil
	}))
}

// stopAfterwards stops servers after the test, so that another one starts them with other flags.
func stopAfterwards(t *testing.T, servers ...string) {
	t.Helper()
	t.Cleanup(func() {
		for _, server := range servers {
			if err := cp.StopProcess(context.WithoutCancel(t.Context()), server); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestHierarchiesAreStoredEncryptedInASharedEtcd(t *testing.T) {
	stopAfterwards(t, "hns-apiserver")
	config := filepath.Join(cp.Dir(), "encryption.yaml")
	if err := os.WriteFile(config, []byte(encryptionWith(key1)), 0o600); err != nil {
		t.Fatal(err)
	}
	installation, err := cp.Install(t.Context(), "../../../artifacts/dev")
	if err != nil {
		t.Fatal(err)
	}
	server := controlplane.Server{
		Name: "hns-apiserver", SharedEtcd: true, Args: []string{"--encryption-provider-config=" + config, "--etcd-prefix=" + prefix},
	}
	port, err := cp.StartServer(t.Context(), installation, server)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Register(t.Context(), installation, port); err != nil {
		t.Fatal(err)
	}

	kube, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{secret, "encrypted"} {
		if _, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	hierarchies, err := versioned.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hierarchies.HncV1beta1().Hierarchies("encrypted").Create(t.Context(), &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Name: "hierarchy"}, Spec: v1beta1.HierarchySpec{Parent: secret},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	read, err := hierarchies.HncV1beta1().Hierarchies("encrypted").Get(t.Context(), "hierarchy", metav1.GetOptions{})
	if err != nil || read.Spec.Parent != secret {
		t.Fatalf("got %v, %v", read, err)
	}

	value := stored(t, cp, prefix+"/hnc.x-k8s.io/hierarchies/encrypted/hierarchy")
	if !bytes.HasPrefix(value, []byte("k8s:enc:secretbox:v1:key1:")) || bytes.Contains(value, []byte(secret)) {
		t.Errorf("etcd holds %q", value)
	}
	// Edges hold no more than the names of namespaces, which etcd's keys show anyway.
	if edge := stored(t, cp, prefix+"/edges/encrypted"); !bytes.Contains(edge, []byte(secret)) {
		t.Errorf("the edge is %q", edge)
	}

	t.Run("objects that copies have overwritten are encrypted, too", func(t *testing.T) {
		config, _, err := cp.ServiceAccount(t.Context(), controlplane.Namespace, "hns-propagator")
		if err != nil {
			t.Fatal(err)
		}
		propagator, err := versioned.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		const password = "a-password-that-nobody-should-read"
		if _, err := propagator.HncV1alpha3().OverwrittenObjects("encrypted").Create(t.Context(), &v1alpha3.OverwrittenObject{
			ObjectMeta: metav1.ObjectMeta{Name: "secrets:password"},
			Spec:       v1alpha3.OverwrittenObjectSpec{Resource: "secrets", Name: "password", Source: secret, Manifest: password},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		value := stored(t, cp, prefix+"/hnc.x-k8s.io/overwrittenobjects/encrypted/secrets:password")
		if !bytes.HasPrefix(value, []byte("k8s:enc:secretbox:v1:key1:")) || bytes.Contains(value, []byte(password)) {
			t.Errorf("etcd holds %q", value)
		}
	})

	t.Run("a server that is restarted has the stored configuration", func(t *testing.T) {
		rules := &v1beta1.Rules{DroppedLabels: []string{"example.com/local"}}
		if err := suite.SetRules(t.Context(), hierarchies, rules); err != nil {
			t.Fatal(err)
		}
		if err := cp.StopProcess(t.Context(), server.Name); err != nil {
			t.Fatal(err)
		}
		// The key is rotated by the same restart. What the old one has encrypted can still be read.
		if err := os.WriteFile(config, []byte(encryptionWith(key2+", "+key1)), 0o600); err != nil {
			t.Fatal(err)
		}
		server.Args = append(server.Args, "--encryption-provider-config-automatic-reload")
		if _, err := cp.StartServer(t.Context(), installation, server); err != nil {
			t.Fatal(err)
		}
		configuration, err := hierarchies.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil || !slices.Equal(configuration.Spec.Rules.DroppedLabels, rules.DroppedLabels) {
			t.Errorf("got %v, %v", configuration, err)
		}
	})

	t.Run("what the old key has encrypted is read, and written with the new one", func(t *testing.T) {
		read, err := hierarchies.HncV1beta1().Hierarchies("encrypted").Get(t.Context(), "hierarchy", metav1.GetOptions{ResourceVersion: ""})
		if err != nil || read.Spec.Parent != secret {
			t.Fatalf("got %v, %v", read, err)
		}
		// As a migration of storage does: without a change.
		if _, err := hierarchies.HncV1beta1().Hierarchies("encrypted").Update(t.Context(), read, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		value := stored(t, cp, prefix+"/hnc.x-k8s.io/hierarchies/encrypted/hierarchy")
		if !bytes.HasPrefix(value, []byte("k8s:enc:secretbox:v1:key2:")) || bytes.Contains(value, []byte(secret)) {
			t.Errorf("etcd holds %q", value)
		}
	})

	t.Run("the keys are rotated without a restart", func(t *testing.T) {
		get := func() *v1beta1.Hierarchy {
			t.Helper()
			read, err := hierarchies.HncV1beta1().Hierarchies("encrypted").Get(t.Context(), "hierarchy", metav1.GetOptions{})
			if err != nil || read.Spec.Parent != secret {
				t.Fatalf("got %v, %v", read, err)
			}
			return read
		}
		other := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: "hierarchy"}}
		if _, err := hierarchies.HncV1beta1().Hierarchies(secret).Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		rotate(t, cp, hierarchies, config, encryptionWith(key3+", "+key2), secret, "key3")
		// Encrypted with the second key until it is written.
		if _, err := hierarchies.HncV1beta1().Hierarchies("encrypted").Update(t.Context(), get(), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if value := stored(t, cp, prefix+"/hnc.x-k8s.io/hierarchies/encrypted/hierarchy"); !bytes.HasPrefix(value, []byte("k8s:enc:secretbox:v1:key3:")) {
			t.Errorf("etcd holds %q", value)
		}
		get()
	})
}

// etcd returns a client of the control plane's etcd.
func etcd(t *testing.T, cp *controlplane.ControlPlane) *clientv3.Client {
	t.Helper()
	access, err := cp.Etcd()
	if err != nil {
		t.Fatal(err)
	}
	tls, err := access.TLS()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: access.Endpoints, TLS: tls, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func stored(t *testing.T, cp *controlplane.ControlPlane, key string) []byte {
	t.Helper()
	got, err := etcd(t, cp).Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if got.Count != 1 {
		t.Fatalf("etcd holds nothing below %s", key)
	}
	return got.Kvs[0].Value
}
