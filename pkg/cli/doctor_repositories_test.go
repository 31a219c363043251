package cli

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// Whoever stops hns-sync, or removes the webhook of quotas, leaves all objects of both as if all were well.
func TestDoctorLooksAtWhatRepositoriesAndQuotasNeed(t *testing.T) {
	ready := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: hnc.ConditionReady, Status: metav1.ConditionTrue, Reason: reason}}
	}
	sync := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Status: v1alpha3.RepositorySyncStatus{Conditions: ready(hnc.ReasonSynced)}}
	quota := &v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "pods"},
		Spec:       v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{"pods": resource.MustParse("1")}},
		Status:     v1beta1.HierarchicalResourceQuotaStatus{Conditions: ready(hnc.ReasonQuotaReserved)},
	}
	look := func(hierarchy *hncfake.Clientset) string {
		o := &doctorOptions{clients: &Clients{Kube: fake.NewClientset(), Hierarchy: hierarchy}}
		o.checkRepositories(t.Context(), time.Now())
		o.checkQuotas(t.Context())
		var text []string
		for _, f := range o.findings {
			if f.Severity != diagnosis.OK {
				text = append(text, f.Severity.String()+" "+f.Subject)
			}
		}
		return strings.Join(text, ", ")
	}
	if got := look(hncfake.NewSimpleClientset()); got != "" {
		t.Errorf("neither: got %s", got)
	}
	if got, want := look(hncfake.NewSimpleClientset(sync, quota)), "error lease hns-sync, error validatingwebhookconfiguration "+hnc.QuotaWebhookName; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
