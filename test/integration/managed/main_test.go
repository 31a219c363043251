// Package managed tests managed labels and annotations, and which namespaces take part in hierarchies, with both
// servers as subprocesses on a real control plane, as users with permissions from RBAC see it.
package managed

import (
	"context"
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
)

var rules = &v1beta1.Rules{
	ManagedNamespaceLabels:      []string{"team|env", `example\.com/[a-z]+`, `pod-security\.kubernetes\.io/audit`},
	ManagedNamespaceAnnotations: []string{"note", "retired"},
	ExcludedNamespaces:          append(slices.Clone(hnc.ExcludedNamespaces), "vault"),
	// Names that start with an l are none of ours.
	IncludedNamespaceRegex:    "[a-km-z].*",
	ExcludedNamespaceSelector: off,
}

// off selects what takes no part.
var off = &metav1.LabelSelector{MatchLabels: map[string]string{"hierarchy": "off"}}

// user is somebody's clients.
type user struct{ suite.User }

var (
	cp           *controlplane.ControlPlane
	installation *controlplane.Installation
	// root is of the group system:masters.
	root user
	// alice is an admin of the namespaces that a test gives her, and nobody else.
	alice user
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	var err error
	if root, err = clients("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	config, err := cp.User("alice")
	if err != nil {
		return err
	}
	if alice, err = clients("alice", config); err != nil {
		return err
	}
	apiServer := controlplane.Server{Name: "hns-apiserver", Args: []string{suite.PatientCreates}}
	if installation, err = suite.Install(ctx, cp, []string{"../../../artifacts/dev", "testdata/policies"}, apiServer); err != nil {
		return err
	}
	if err := suite.SetRules(ctx, root.HNC, rules); err != nil {
		return err
	}
	_, err = cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-propagator"})
	return err
}

// namespace creates a namespace whose admin is alice. Options are label=value or, with an @ before it,
// annotation=value.
func namespace(t *testing.T, name string, options ...string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}}
	for _, o := range options {
		key, value := split(o)
		if key[0] == '@' {
			ns.Annotations[key[1:]] = value
		} else {
			ns.Labels[key] = value
		}
	}
	if _, err := root.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := root.RbacV1().RoleBindings(name).Create(t.Context(), &rbacv1.RoleBinding{
		// Of one name, an ancestor's would overwrite a descendant's.
		ObjectMeta: metav1.ObjectMeta{Name: "alice-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "alice"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// RBAC hears of it a little later.
	suite.Eventually(t, "alice is an admin of "+name, func() error {
		_, err := alice.RbacV1().Roles(name).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

func clients(name string, config *rest.Config) (user, error) {
	u, err := suite.NewUser(name, config)
	return user{u}, err
}
