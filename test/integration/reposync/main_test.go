// Package reposync tests on a real control plane that hns-sync keeps the cluster equal to repositories. All servers are
// processes, and everybody has the permissions that RBAC gives.
package reposync

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	// accounts is the namespace of the ServiceAccounts that repositories are applied as.
	accounts = "hns-repositories"
	// policy may write all that the repositories of the tests contain, limited is an account without permissions.
	policy, limited = "policy", "limited"
	// unlisting is an account that may write a few kinds, and list no others.
	unlisting = "unlisting"
)

var (
	cp *controlplane.ControlPlane
	// installation runs the servers.
	installation *controlplane.Installation
	// admin is of the group system:masters.
	admin suite.User
	// operator may write RepositorySyncs and impersonate policy, author may write RepositorySyncs only, tenant may edit
	// what is in namespaces.
	operator, author, tenant suite.User
	// local is the directory of the repositories.
	local string
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

// syncServer has a short lease, which lets it take over soon after it was killed.
func syncServer() controlplane.Server {
	return controlplane.Server{Name: "hns-sync", Args: []string{
		"--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=500ms", "--local-repositories=" + local,
	}}
}

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	local = filepath.Join(cp.Dir(), "repositories")
	if err := os.MkdirAll(local, 0o700); err != nil {
		return err
	}
	var err error
	if admin, err = suite.NewUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	servers := []controlplane.Server{{Name: "hns-apiserver", Args: []string{suite.PatientCreates}}, {Name: "hns-propagator"}, syncServer()}
	if installation, err = suite.Install(ctx, cp, []string{"../../../artifacts/dev-sync", "../../../artifacts/policies"}, servers...); err != nil {
		return err
	}
	all := []string{"*"}
	if _, err = account(ctx, policy,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces", "configmaps", "secrets", "resourcequotas", "services"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"networkpolicies"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings", "clusterroles"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: all, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{
			"hierarchies", "hierarchies/abstract", "hierarchyconfigurations", "subnamespaces", "subnamespaceanchors", "hierarchicalresourcequotas",
		}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"repositorysyncs"}, Verbs: []string{"use"}},
		// To find out whether a namespace is in use.
		rbacv1.PolicyRule{APIGroups: all, Resources: all, Verbs: []string{"list"}},
	); err != nil {
		return err
	}
	if _, err = account(ctx, limited); err != nil {
		return err
	}
	if _, err = account(ctx, unlisting,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, Verbs: []string{"bind"}},
		rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"hierarchies"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"repositorysyncs"}, Verbs: []string{"use"}},
	); err != nil {
		return err
	}
	syncs := rbacv1.PolicyRule{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"repositorysyncs"}, Verbs: all}
	if author, err = account(ctx, "author", syncs); err != nil {
		return err
	}
	operator, err = account(ctx, "operator", syncs,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{policy, limited, unlisting}, Verbs: []string{"impersonate"}})
	if err != nil {
		return err
	}
	tenant, err = account(ctx, "tenant",
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps", "services"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"networkpolicies"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: all},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "patch", "delete"}})
	return err
}

// account returns the clients of a new ServiceAccount that has these permissions in the whole cluster.
func account(ctx context.Context, name string, rules ...rbacv1.PolicyRule) (suite.User, error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: accounts, Name: name}}
	if _, err := admin.CoreV1().ServiceAccounts(accounts).Create(ctx, sa, metav1.CreateOptions{}); err != nil {
		return suite.User{}, err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-" + name}, Rules: rules}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return suite.User{}, err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: accounts, Name: name}},
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return suite.User{}, err
	}
	config, _, err := cp.ServiceAccount(ctx, accounts, name)
	if err != nil {
		return suite.User{}, err
	}
	return suite.NewUser(name, config)
}
