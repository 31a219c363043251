package quota

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// removeQuotas removes all quotas of the suite.
func removeQuotas(t *testing.T) {
	t.Helper()
	list, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range list.Items {
		unlimit(t, q.Namespace, q.Name)
	}
}

// wantWebhook polls until the webhook is registered as it has to be, or is not.
func wantWebhook(t *testing.T, want bool) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("registered: %v", want), func() error {
		w, err := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), hnc.QuotaWebhookName, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) && !want:
			return nil
		case err != nil:
			return err
		case !want || len(w.Webhooks) != 2 || *w.Webhooks[0].FailurePolicy != "Fail":
			return fmt.Errorf("webhooks %v", w.Webhooks)
		}
		return nil
	})
}

// restart runs the propagator with other flags.
func restart(t *testing.T, flags ...string) {
	t.Helper()
	// Cleanups have no context of the test.
	ctx := context.WithoutCancel(t.Context())
	if err := cp.StopProcess(ctx, "hns-propagator"); err != nil {
		t.Fatal(err)
	}
	if err := suite.Start(ctx, cp, installation, propagator(flags...)); err != nil {
		t.Fatal(err)
	}
}

func TestWebhookIsRegisteredWhileThereAreQuotas(t *testing.T) {
	removeQuotas(t)
	wantWebhook(t, false)
	tree(t, "hook-", "a")
	limit(t, "hook-a", "q", "count/subnamespaces.hnc.x-k8s.io=3")
	wantStatus(t, "hook-a", "q", "count/subnamespaces.hnc.x-k8s.io=0", "Ready=Reserved Exceeded=WithinLimit")
	wantWebhook(t, false)
	limit(t, "hook-a", "q", "secrets=3")
	wantHard(t, "hook-a", "secrets=3")
	wantWebhook(t, true)
	wantStatus(t, "hook-a", "q", "secrets=0", "Ready=Reserved Exceeded=WithinLimit")

	client := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := client.Patch(t.Context(), hnc.QuotaWebhookName, types.JSONPatchType, []byte(`[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	wantWebhook(t, true)
	if err := client.Delete(t.Context(), hnc.QuotaWebhookName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantWebhook(t, true)
	unlimit(t, "hook-a", "q")
	wantWebhook(t, false)
	wantHard(t, "hook-a", "")
}
