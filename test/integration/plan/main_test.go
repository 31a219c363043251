// Package plan tests on a real control plane that what a plan shows then happens.
package plan

import (
	"context"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	people = "people"
)

// user is somebody's clients.
type user struct {
	suite.User
	// warnings are collected from all answers.
	warnings *warnings
}

var (
	cp *controlplane.ControlPlane
	// admin is of the group system:masters.
	admin user
	// alice may do everything with namespaces, hierarchies, the configuration and the objects of the tests.
	alice user
)

func TestMain(m *testing.M) { os.Exit(suite.RunConfigured(m, binDir, countQuotas, setUp)) }

// countQuotas has Kubernetes count what quotas limit every second. What was created at the same time as a quota is
// missed otherwise, for minutes.
func countQuotas(config *controlplane.Config) error {
	config.ControllerManagerArgs = []string{"--resource-quota-sync-period=1s"}
	return nil
}

func setUp(ctx context.Context, started *controlplane.ControlPlane) (err error) {
	cp = started
	if admin, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	if _, err := suite.Install(ctx, cp, suite.Artifacts, suite.Servers()...); err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}
	if _, err := admin.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	alice, err = person(ctx, "alice", "",
		rbacv1.PolicyRule{APIGroups: []string{"", "hnc.x-k8s.io", "rbac.authorization.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"*"}})
	return err
}

// person returns the clients of a new ServiceAccount that has these permissions in a namespace, or in the whole
// cluster.
func person(ctx context.Context, name, namespace string, rules ...rbacv1.PolicyRule) (user, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: people, Name: name}}
	if _, err := admin.CoreV1().ServiceAccounts(people).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-" + name}, Rules: rules}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name}}
	var err error
	if namespace == "" {
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: ref, Subjects: subjects}
		_, err = admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	} else {
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: ref, Subjects: subjects}
		_, err = admin.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})
	}
	if err != nil {
		return user{}, err
	}
	config, _, err := cp.ServiceAccount(ctx, people, name)
	if err != nil {
		return user{}, err
	}
	return clients(name, config)
}

func clients(name string, config *rest.Config) (user, error) {
	u := user{warnings: &warnings{}}
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = u.warnings
	var err error
	u.User, err = suite.NewUser(name, config)
	return u, err
}
