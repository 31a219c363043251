// Package clients tests that the libraries of Flux and Argo CD work in tenant views: two users, each of whom is admin
// of a root and reaches kube-apiserver through hns-gateway, install and upgrade the same application with the same
// names.
package clients

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binDir = "../../_output/bin"

var (
	cp *controlplane.ControlPlane
	// admin is of the group system:masters.
	admin suite.User
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	log.SetLogger(logr.Discard())
	var err error
	if admin, err = suite.NewUser("kubernetes-admin", cp.RESTConfig()); err != nil {
		return err
	}
	if _, err := suite.Install(ctx, cp, []string{"../../artifacts/dev", "../../artifacts/policies"}, suite.Servers()...); err != nil {
		return err
	}
	// Flux deletes namespaces only if they have its labels.
	configurations := admin.HNC.HncV1beta1().HNCConfigurations()
	configuration, err := configurations.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	configuration.Spec.Rules = &v1beta1.Rules{ManagedNamespaceLabels: []string{`kustomize\.toolkit\.fluxcd\.io/.*`, `app\.kubernetes\.io/version`}}
	if _, err := configurations.Update(ctx, configuration, metav1.UpdateOptions{}); err != nil {
		return err
	}
	installation, err := cp.Install(ctx, "../../artifacts/dev-view")
	if err != nil {
		return err
	}
	port, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hns-gateway"})
	if err != nil {
		return err
	}
	return cp.Register(ctx, installation, port)
}

// tenant is a user who is admin of a root and of what is below it.
type tenant struct {
	root string
	// view are the clients of the tenant in its view.
	view suite.User
}

// newTenant creates a root with a TenantView, and its admin, who may install a CustomResourceDefinition.
func newTenant(t *testing.T, root string) *tenant {
	t.Helper()
	ctx := t.Context()
	_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: root}}, metav1.CreateOptions{})
	must(t, "namespace", err)
	_, err = admin.RbacV1().RoleBindings(root).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "tenant"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "admin of " + root}}}, metav1.CreateOptions{})
	must(t, "binding", err)
	views := admin.HNC.HncV1alpha3().TenantViews(root)
	_, err = views.Create(ctx, &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton},
		Spec: v1alpha3.TenantViewSpec{CustomResources: v1alpha3.ViewCustomResources{Limit: 1}}}, metav1.CreateOptions{})
	must(t, "view", err)
	suite.Eventually(t, "the view of "+root+" is ready", func() error {
		v, err := views.Get(ctx, hnc.TenantViewSingleton, metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionTrue(v.Status.Conditions, hnc.ConditionReady) {
			err = fmt.Errorf("status: %+v", v.Status)
		}
		return err
	})
	config, err := cp.User("admin of " + root)
	must(t, "certificate", err)
	config = rest.CopyConfig(config)
	config.Host += hnc.ViewPath(root)
	tn := &tenant{root: root}
	tn.view, err = suite.NewUser(root, config)
	must(t, "clients", err)
	suite.Eventually(t, "the tenant uses its view", func() error {
		_, err := tn.view.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
	return tn
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
