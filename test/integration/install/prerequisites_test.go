package install

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

var services = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// ready returns the output and the exit code of kubectl hns preflight.
func ready(t *testing.T) (string, int) {
	t.Helper()
	out, err := command(t, "kubectl-hns", "preflight", "--quiet")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return out, exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, 0
}

// rejects checks that Helm installs nothing, and says why.
func rejects(t *testing.T, release, want string) {
	t.Helper()
	args := []string{"install", release, chart, "--namespace=hns-system", "--create-namespace", "--set=apiserver.etcd.servers={https://etcd:2379}"}
	if _, err := command(t, "helm", args...); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("helm install %s: got %v, want %q", release, err, want)
	}
}

func installed(t *testing.T) bool {
	t.Helper()
	_, err := admin.AppsV1().Deployments(controlplane.Namespace).Get(t.Context(), "hns-propagator", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestAnAPIServiceOfAnotherServerIsNotTakenOver(t *testing.T) {
	if out, code := ready(t); code != 0 {
		t.Errorf("a cluster without the servers: exit code %d\n%s", code, out)
	}
	if out, code := doctor(t); code != 3 || out != "error    installation: the servers are not installed\n"+
		"         -> kubectl hns preflight says whether they can be; docs/install.md says how\n" {
		t.Errorf("doctor without the servers: exit code %d\n%s", code, out)
	}
	const name = "v1alpha2.resources.hnc.x-k8s.io"
	foreign := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": "resources.hnc.x-k8s.io", "version": "v1alpha2", "groupPriorityMinimum": int64(1), "versionPriority": int64(1),
			"service": map[string]any{"name": "other", "namespace": "default"},
		},
	}}
	created, err := admin.Dynamic.Resource(services).Create(t.Context(), foreign, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if out, code := ready(t); code != 3 || !strings.Contains(out, "error    apiservice "+name+": it belongs to the service other in namespace default") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	rejects(t, "hns", `APIService "`+name+`" in namespace "" exists and cannot be imported into the current release`)
	if installed(t) {
		t.Error("something is installed")
	}
	now, err := admin.Dynamic.Resource(services).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || now.GetUID() != created.GetUID() || now.GetGeneration() != created.GetGeneration() || len(now.GetAnnotations()) > 0 {
		t.Errorf("the APIService was changed: %v, %v", now, err)
	}
	if err := admin.Dynamic.Resource(services).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestTheServersAreInstalledOnce(t *testing.T) {
	ctx := t.Context()
	// The volume of an embedded etcd would stay for other tests.
	if _, err := command(t, "helm", "install", "hns", chart, "--namespace=hns-system", "--create-namespace", "--set=apiserver.etcd.servers={https://etcd:2379}"); err != nil {
		t.Fatal(err)
	}
	if out, code := ready(t); code != 2 || !strings.Contains(out, "warning  apiservice v1beta1.hnc.x-k8s.io: the servers are installed already") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	rejects(t, "hns", "cannot reuse a name that is still in use")
	rejects(t, "other", "exists and cannot be imported into the current release")
	elsewhere := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "hns-apiserver", Labels: map[string]string{"app.kubernetes.io/part-of": "hns"}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
			},
		},
	}
	deployments := admin.AppsV1().Deployments(metav1.NamespaceDefault)
	if _, err := deployments.Create(ctx, elsewhere, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Anybody may label a Deployment of their own.
	if out, code := ready(t); code != 2 {
		t.Errorf("exit code %d with a Deployment\n%s", code, out)
	}
	// Manifests that were changed to install into another namespace.
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "elsewhere", Labels: elsewhere.Labels},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: "hns-apiserver"}},
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if out, code := ready(t); code != 3 || !strings.Contains(out, "servers are installed outside hns-system, too: serviceaccounts default/hns-apiserver") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if err := errors.Join(deployments.Delete(ctx, elsewhere.Name, metav1.DeleteOptions{}), admin.RbacV1().ClusterRoleBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{})); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "helm", "uninstall", "hns", "--namespace=hns-system"); err != nil {
		t.Fatal(err)
	}
}
