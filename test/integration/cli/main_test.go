// Package cli runs the plugin, as a process, against a real control plane with both servers, and compares what it
// prints with what it should: testdata/*.golden and docs/cli.md, which `go test ./test/integration/cli -update` writes
// anew.
package cli

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir   = "../../../_output/bin"
	deadline = 2 * time.Minute
	interval = 100 * time.Millisecond
	people   = "people"
)

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// kube, hierarchies and objects are the administrator's clients, for setting things up.
	kube        kubernetes.Interface
	hierarchies versioned.Interface
	objects     dynamic.Interface
	// root is of the group system:masters. alice is admin of the namespaces that a test gives her, and bob has no
	// permissions.
	root, alice, bob user
)

// rules are those of the tests.
var rules = &v1beta1.Rules{SkippedObjects: []metav1.LabelSelector{{MatchLabels: map[string]string{"example.com/stays": "here"}}}, IncludedNamespaceRegex: "[^x].*"}

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	if err := controlplane.RequireBinaries(binDir, "kubectl-hns"); err != nil {
		return err
	}
	var err error
	if kube, err = kubernetes.NewForConfig(cp.RESTConfig()); err != nil {
		return err
	}
	if hierarchies, err = versioned.NewForConfig(cp.RESTConfig()); err != nil {
		return err
	}
	if objects, err = dynamic.NewForConfig(cp.RESTConfig()); err != nil {
		return err
	}
	if installation, err = suite.Install(ctx, cp, suite.Artifacts, suite.Servers()...); err != nil {
		return err
	}
	if err := suite.SetRules(ctx, hierarchies, rules); err != nil {
		return err
	}
	root = user{cp.Kubeconfig()}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}
	if _, err := kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	if alice, err = person(ctx, "alice"); err != nil {
		return err
	}
	bob, err = person(ctx, "bob")
	return err
}

// person returns a new ServiceAccount without permissions.
func person(ctx context.Context, name string) (user, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: people, Name: name}}
	if _, err := kube.CoreV1().ServiceAccounts(people).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	_, kubeconfig, err := cp.ServiceAccount(ctx, people, name)
	return user{kubeconfig}, err
}

// bind gives alice a ClusterRole in a namespace.
func bind(t *testing.T, namespace, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "alice-" + role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: "alice"}},
	}
	if _, err := kube.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
