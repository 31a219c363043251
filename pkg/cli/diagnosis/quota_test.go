package diagnosis

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestQuotaWebhook(t *testing.T) {
	quota := func(reason, message string, limits ...corev1.ResourceName) []v1beta1.HierarchicalResourceQuota {
		q := v1beta1.HierarchicalResourceQuota{Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{}}}
		for _, limit := range limits {
			q.Spec.Hard[limit] = resource.MustParse("1")
		}
		q.Status.Conditions = []metav1.Condition{{Type: hnc.ConditionReady, Reason: reason, Message: message}}
		return []v1beta1.HierarchicalResourceQuota{q}
	}
	for name, quotas := range map[string][]v1beta1.HierarchicalResourceQuota{
		"no quotas": nil, "without a webhook": quota(hnc.ReasonQuotaEventual, "", "pods"), "sub-namespaces only": quota(hnc.ReasonQuotaReserved, "", hnc.ResourceSubnamespaces),
		"not in force yet": quota(hnc.ReasonPending, "1 namespace(s) are not held to the limits yet", "pods"),
	} {
		if found := QuotaWebhook(quotas, false); found != nil {
			t.Errorf("%s: got %v", name, found)
		}
	}
	expect(t, "exists", QuotaWebhook(quota(hnc.ReasonQuotaReserved, "", "pods"), true)[0], OK, "it exists")
	expect(t, "missing", QuotaWebhook(quota(hnc.ReasonQuotaReserved, "", "pods", hnc.ResourceSubnamespaces), false)[0], Error, "may exceed a hierarchical quota")
	expect(t, "missing and noticed", QuotaWebhook(quota(hnc.ReasonPending, hnc.MessageQuotaWebhookPending, "pods"), false)[0], Error, "may exceed a hierarchical quota")
}
