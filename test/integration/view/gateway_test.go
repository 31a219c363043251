package view

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// gateway is the first replica of hns-gateway, secondGateway another one, and gatewayInstallation its manifests.
var (
	gateway             = controlplane.Server{Name: "hns-gateway"}
	secondGateway       = controlplane.Server{Name: "hns-gateway", Replica: 1}
	gatewayInstallation *controlplane.Installation
)

// startGateway installs and registers hns-gateway.
func startGateway(ctx context.Context) error {
	if err := controlplane.RequireBinaries(binDir, gateway.Name); err != nil {
		return err
	}
	var err error
	if gatewayInstallation, err = cp.Install(ctx, "../../../artifacts/dev-view"); err != nil {
		return err
	}
	port, err := cp.StartServer(ctx, gatewayInstallation, gateway)
	if err != nil {
		return err
	}
	return cp.Register(ctx, gatewayInstallation, port)
}

// newUser creates a root with a TenantView, and a user who is admin of it, and works in the view.
func newUser(t *testing.T, root string) *tenant {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: root}}
	_, err := admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
	must(t, "namespace", err)
	name := fmt.Sprintf("user-%d", tenants.Add(1))
	bindAdmin(t, root, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name})
	openView(t, root, v1alpha3.TenantViewSpec{})
	config, err := cp.User(name, "developers")
	must(t, "certificate", err)
	return through(t, root, config)
}

func bindAdmin(t *testing.T, root string, subject rbacv1.Subject) {
	t.Helper()
	bindAdminAs(t, root, "tenant", subject)
}

// bindAdminAs binds a ClusterRole, admin by default, unless there is a binding of that name.
func bindAdminAs(t *testing.T, root, name string, subject rbacv1.Subject, role ...string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: append(role, "admin")[0]}}
	_, err := admin.RbacV1().RoleBindings(root).Create(t.Context(), binding, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		must(t, "binding", err)
	}
}

// openView creates a TenantView, and waits until it is ready.
func openView(t *testing.T, root string, spec v1alpha3.TenantViewSpec) {
	t.Helper()
	views := admin.HNC.HncV1alpha3().TenantViews(root)
	_, err := views.Create(t.Context(), &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton}, Spec: spec}, metav1.CreateOptions{})
	must(t, "view", err)
	suite.Eventually(t, "the view of "+root+" is ready", func() error {
		v, err := views.Get(t.Context(), hnc.TenantViewSingleton, metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionTrue(v.Status.Conditions, hnc.ConditionReady) {
			err = fmt.Errorf("status: %+v", v.Status)
		}
		return err
	})
}

// through returns a tenant with an identity, whose view is the one of the gateway.
func through(t *testing.T, root string, config *rest.Config) *tenant {
	t.Helper()
	tn := &tenant{root: root}
	var err error
	tn.direct, err = suite.NewUser(root, config)
	must(t, "clients", err)
	viewed := rest.CopyConfig(config)
	viewed.Host += hnc.ViewPath(root)
	tn.view, err = suite.NewUser(root, viewed)
	must(t, "clients", err)
	tn.viewed = kubeconfigOf(t, viewed)
	suite.Eventually(t, "the tenant uses its view", func() error {
		_, err := tn.view.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return tn
}

func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	file := clientcmdapi.NewConfig()
	file.Clusters["view"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos["view"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken}
	file.Contexts["view"] = &clientcmdapi.Context{Cluster: "view", AuthInfo: "view"}
	file.CurrentContext = "view"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, "kubeconfig", clientcmd.WriteToFile(*file, path))
	return path
}

func (tn *tenant) run(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := tn.output(t, input, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

// output runs kubectl, which may fail.
func (tn *tenant) output(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	command := tn.kubectl(t.Context(), args...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	return string(out), err
}

func TestTwoTenantsWorkThroughTheGatewayWithTheSameNames(t *testing.T) {
	const deployment = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 0,
		"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "none"}]}}}}`
	for _, root := range []string{"shop", "bank"} {
		tn := newUser(t, root)
		watch, err := tn.view.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{LabelSelector: "test"})
		must(t, "watch", err)
		for _, ns := range []string{"dev", "prod"} {
			tn.run(t, "", "create", "namespace", ns)
			tn.run(t, deployment, "apply", "--server-side", "-n", ns, "-f", "-")
			tn.run(t, deployment, "apply", "-n", ns, "-f", "-")
			configMap(t, tn.view, ns, "mine")
			event := <-watch.ResultChan()
			if seen, ok := event.Object.(*corev1.ConfigMap); !ok || seen.Namespace != ns {
				t.Errorf("the watch shows %v", event)
			}
		}
		watch.Stop()
		if got := strings.Fields(tn.run(t, "", "get", "namespaces", "-o", "name")); !slices.Equal(got, []string{"namespace/default", "namespace/dev", "namespace/prod"}) {
			t.Errorf("%s has the namespaces %v", root, got)
		}
		if got := strings.Fields(tn.run(t, "", "get", "deployments", "-A", "-o", "custom-columns=:.metadata.namespace", "--no-headers")); !slices.Equal(got, []string{"dev", "prod"}) {
			t.Errorf("%s has deployments in %v", root, got)
		}
		stored, err := admin.AppsV1().Deployments(root+"-dev").Get(t.Context(), "web", metav1.GetOptions{})
		must(t, "deployment", err)
		if len(stored.ManagedFields) == 0 {
			t.Error("the deployment has no managed fields")
		}
		tn.run(t, "", "explain", "deployment.spec.replicas")
		if got := tn.run(t, "", "auth", "can-i", "create", "pods", "-n", "dev"); strings.TrimSpace(got) != "yes" {
			t.Errorf("can-i: %s", got)
		}
		if got := tn.run(t, "", "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"); !strings.HasPrefix(got, "user-") {
			t.Errorf("whoami: %s", got)
		}
		tn.run(t, "", "delete", "namespace", "dev", "--wait")
		if got := tn.run(t, "", "get", "namespaces", "-o", "name"); strings.Contains(got, "/dev") {
			t.Errorf("dev is still there: %s", got)
		}
	}
}

func TestTheStatusOfAView(t *testing.T) {
	tn := newUser(t, "status")
	child(t, "status-x", tn.root)
	views := admin.HNC.HncV1alpha3().TenantViews(tn.root)
	suite.EventuallyEqual(t, "members", "2 []", func() string {
		v, err := views.Get(t.Context(), hnc.TenantViewSingleton, metav1.GetOptions{})
		must(t, "view", err)
		return fmt.Sprint(v.Status.Members, v.Status.Shadowed)
	})
	child(t, "status-status-x", "status-x")
	child(t, "x", tn.root)
	suite.EventuallyEqual(t, "members and what is shadowed", "4 [x] False", func() string {
		v, err := views.Get(t.Context(), hnc.TenantViewSingleton, metav1.GetOptions{})
		must(t, "view", err)
		unique := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionNamesUnique)
		return fmt.Sprint(v.Status.Members, " ", v.Status.Shadowed, " ", unique.Status)
	})
}
