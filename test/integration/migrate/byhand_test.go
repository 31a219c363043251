package migrate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outByHand runs the commands of the page by which a migration ends without the plugin, and checks that HNC serves the
// cluster, with all its Deployments, and that the migration is not continued.
func outByHand(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "get out by hand")
	_, after, _ = strings.Cut(after, "```sh\n")
	commands, _, ok := strings.Cut(after, "```")
	if !ok {
		t.Fatal("the page has no commands to get out by hand")
	}
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cp.Kubeconfig(), "HOME="+cmd.Dir, "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	runsHNC(t)
	if _, err := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "hnc-validating-webhook-configuration", metav1.GetOptions{}); err != nil {
		t.Errorf("HNC's webhooks: %v", err)
	}
	if _, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(ctx, "migration.hnc.x-k8s.io", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the freeze goes on: %v", err)
	}
	if service, err := admin.Dynamic.Resource(apiServices).Get(ctx, "v1alpha2.hnc.x-k8s.io", metav1.GetOptions{}); err != nil || service.GetLabels()["kube-aggregator.kubernetes.io/automanaged"] != "true" {
		t.Errorf("HNC's definitions are not served: %v, %v", service, err)
	}
	doctor(t, "a rollback has begun")
	if _, err := plugin(t, "", "migrate", "--yes"); err == nil || !strings.Contains(err.Error(), "a rollback has begun") {
		t.Errorf("the migration goes on: %v", err)
	}
}
