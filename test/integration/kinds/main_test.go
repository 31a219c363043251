// Package kinds tests on a real control plane which kinds are propagated and how, as configured and as exceptions say.
// Both servers are processes, and everybody has the permissions that RBAC gives.
package kinds

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	people = "people"
)

// user is somebody's clients.
type user struct{ suite.User }

var (
	cp *controlplane.ControlPlane
	// installation runs the servers.
	installation *controlplane.Installation
	// admin is of the group system:masters.
	admin user
	// operator may write the configuration, and nothing else.
	operator user
	// alice may do everything with namespaces, hierarchies and the objects that the tests put into them, and nothing
	// else.
	alice user
	// carol may do the same with hierarchies under both of their names.
	carol user
	// auditLog is that of hns-apiserver.
	auditLog string
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	auditLog = filepath.Join(cp.Dir(), "audit.log")
	policy := filepath.Join(cp.Dir(), "audit-policy.yaml")
	err := os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, omitStages: [RequestReceived]}]\n"), 0o600)
	if err != nil {
		return err
	}
	apiServerFlags = append(apiServerFlags, "--audit-policy-file="+policy, "--audit-log-path="+auditLog)
	if admin, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	if installation, err = suite.Install(ctx, cp, suite.Artifacts, controlplane.Server{Name: "hns-apiserver", Args: apiServerFlags}, propagator()); err != nil {
		return err
	}
	if err := suite.SetRules(ctx, admin.HNC, rules); err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: people}}
	if _, err := admin.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	all := []string{"*"}
	operator, err = person(ctx, "operator",
		rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"hncconfigurations"}, Verbs: all})
	if err != nil {
		return err
	}
	carol, err = person(ctx, "carol",
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"hierarchies", "hierarchyconfigurations"}, Verbs: all})
	if err != nil {
		return err
	}
	alice, err = person(ctx, "alice",
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces", "configmaps", "secrets", "serviceaccounts", "resourcequotas"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"networking.k8s.io", "example.com", "policy"}, Resources: all, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"hierarchies", "hierarchies/plan", "subnamespaces"}, Verbs: all})
	return err
}

// rules are those of the tests: copies leave out one more label than by default.
var rules = &v1beta1.Rules{
	DroppedLabels: []string{"example.com/local"}, DroppedAnnotations: []string{"example.com/note"},
	SkippedObjects: []metav1.LabelSelector{{MatchLabels: map[string]string{"example.com/stays": "here"}}},
}

// apiServerFlags are the flags of hns-apiserver.
var apiServerFlags = []string{mostVerbose, suite.PatientCreates}

// propagator has a short lease, which lets it take over soon after it was killed.
func propagator(more ...string) controlplane.Server {
	args := []string{mostVerbose, "--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=6s", "--leader-elect-retry-period=500ms",
		"--authorization-webhook-cache-unauthorized-ttl=1s"}
	return controlplane.Server{Name: "hns-propagator", Args: append(args, more...)}
}

// person returns the clients of a new ServiceAccount that has these permissions in the whole cluster.
func person(ctx context.Context, name string, rules ...rbacv1.PolicyRule) (user, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: people, Name: name}}
	if _, err := admin.CoreV1().ServiceAccounts(people).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-" + name}, Rules: rules}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: name}},
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return user{}, err
	}
	config, _, err := cp.ServiceAccount(ctx, people, name)
	if err != nil {
		return user{}, err
	}
	return clients(name, config)
}

func clients(name string, config *rest.Config) (user, error) {
	u, err := suite.NewUser(name, config)
	return user{u}, err
}
