package migrate

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// startedAgain checks that a migration does not go on while HNC, which it has stopped, runs again, or has its webhooks
// again, as after its manifests were applied again. The error names the rollback, and not a repetition.
func startedAgain(t *testing.T, file string) {
	t.Helper()
	ctx := t.Context()
	refuses := func(what string) {
		t.Helper()
		_, err := plugin(t, "", "migrate", "--yes", "--export", file)
		if err == nil || !strings.Contains(err.Error(), "step export: HNC runs again: "+what) || !strings.Contains(err.Error(), "kubectl hns migrate rollback; then migrate again") ||
			strings.Contains(err.Error(), "Repeat the command") {
			t.Errorf("%s: %v", what, err)
		}
	}
	scale := func(replicas string) {
		t.Helper()
		if _, err := admin.AppsV1().Deployments("hnc-system").Patch(ctx, "hnc-controller-manager", types.MergePatchType, []byte(`{"spec":{"replicas":`+replicas+`}}`), metav1.PatchOptions{}, "scale"); err != nil {
			t.Fatal(err)
		}
	}
	scale("1")
	refuses("deployment hnc-controller-manager has 1 replicas; suspend what applies its manifests")
	doctor(t, "HNC runs although the migration has stopped it")
	scale("0")
	installWebhooks(t)
	refuses("webhook configuration hnc-validating-webhook-configuration exists, webhook configuration hnc-mutating-webhook-configuration exists; suspend")
	webhooks := admin.AdmissionregistrationV1()
	if err := errors.Join(webhooks.ValidatingWebhookConfigurations().Delete(ctx, "hnc-validating-webhook-configuration", metav1.DeleteOptions{}),
		webhooks.MutatingWebhookConfigurations().Delete(ctx, "hnc-mutating-webhook-configuration", metav1.DeleteOptions{})); err != nil {
		t.Fatal(err)
	}
}

// announces checks what a dry run says of an export that exists, and of kinds on which no permissions are granted.
func announces(t *testing.T, existing string) {
	t.Helper()
	for _, test := range []struct{ flag, want string }{
		{"--export=" + existing, filepath.Base(existing) + " exists; choose another file by --export, or remove it, before the migration."},
		{"--grant=false", "hns-propagator has no permissions on these kinds, so that their copies stay as they are (kubectl hns config set grants them):\n  serviceaccounts\n"},
	} {
		if out := must(t, "migrate", "--dry-run", test.flag); !strings.Contains(out, test.want) {
			t.Errorf("a dry run with %s does not say %q:\n%s", test.flag, test.want, out)
		}
	}
}
