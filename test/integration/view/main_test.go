// Package view tests views of subtrees on a real control plane: each tenant is a ServiceAccount that is admin of the
// root of a tree and has no other permissions, and reaches kube-apiserver through a view of its own on the loopback; or
// a user with these permissions, who reaches it through hns-gateway.
package view

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/loopback"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	people = "people"
)

var (
	cp *controlplane.ControlPlane
	// admin is of the group system:masters.
	admin suite.User
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	if err := controlplane.RequireBinaries(binDir, "helm", "kubectl", "kubectl-hns"); err != nil {
		return err
	}
	var err error
	if admin, err = suite.NewUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	if _, err := suite.Install(ctx, cp, suite.Artifacts, suite.Servers()...); err != nil {
		return err
	}
	if err := startGateway(ctx); err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}
	_, err = admin.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	return err
}

// tenants numbers the tenants' accounts, so that no answer has the name of a root because of its account.
var tenants atomic.Int32

// tenant is admin of a root, and of what is below it.
type tenant struct {
	root string
	// direct are the clients of the tenant in the cluster, view those in its view.
	direct, view suite.User
	// kubeconfig is the file for direct, viewed that for view.
	kubeconfig, viewed string
}

// newTenant creates a root, an admin of it, and a view of it.
func newTenant(t *testing.T, root string) *tenant {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: root}}
	_, err := admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
	must(t, "namespace", err)
	name := fmt.Sprintf("tenant-%d", tenants.Add(1))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: people, Name: name}}
	_, err = admin.CoreV1().ServiceAccounts(people).Create(t.Context(), account, metav1.CreateOptions{})
	must(t, "account", err)
	bindAdmin(t, root, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name})
	tn := &tenant{root: root}
	var config *rest.Config
	config, tn.kubeconfig, err = cp.ServiceAccount(t.Context(), people, name)
	must(t, "token", err)
	tn.direct, err = suite.NewUser(root, config)
	must(t, "clients", err)
	suite.Eventually(t, "the tenant sees its root", func() error {
		ns, err := tn.direct.HNC.HncV1alpha3().MyNamespaces().Get(t.Context(), root, metav1.GetOptions{})
		if err == nil && ns.Labels[hnc.TreeLabel(root)] == "" {
			err = errors.New("the tree label is not set yet")
		}
		return err
	})
	tn.open(t, mapping.Config{Root: root})
	return tn
}

// relative returns the tenant with a view with relative names.
func (tn *tenant) relative(t *testing.T) *tenant {
	t.Helper()
	other := *tn
	other.open(t, mapping.Config{Root: tn.root, Relative: true, Prefix: tn.root + "-", External: []string{"kube-system"}})
	return &other
}

// open serves a view of the tenant until the end of the test.
func (tn *tenant) open(t *testing.T, names mapping.Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	handler, err := loopback.Handler(t.Context(), ctx, tn.direct.Config, names)
	must(t, "view", err)
	server, err := loopback.Listen(handler)
	must(t, "listen", err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = server.Close()
	})
	tn.viewed, err = server.WriteKubeconfig(tn.root, mapping.NewNames(names).Out(tn.root))
	must(t, "kubeconfig", err)
	config, err := clientcmd.BuildConfigFromFlags("", tn.viewed)
	must(t, "kubeconfig", err)
	tn.view, err = suite.NewUser(tn.root, config)
	must(t, "clients", err)
}

// child creates a sub-namespace below a parent, as the administrator.
func child(t *testing.T, name, parent string) {
	t.Helper()
	sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: parent}}
	_, err := admin.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), sub, metav1.CreateOptions{})
	must(t, "sub-namespace "+name, err)
}

func configMap(t *testing.T, u suite.User, ns, name string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": "yes"}}}
	suite.Must(t, "config map "+name, func() error {
		_, err := u.CoreV1().ConfigMaps(ns).Create(t.Context(), cm, metav1.CreateOptions{})
		return err
	})
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
