package diagnosis

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// QuotaWebhook reports whether the webhook that reserves use exists, if there are quotas that need it: those that limit
// more than sub-namespaces, unless hns-propagator enforces them without it.
func QuotaWebhook(quotas []v1beta1.HierarchicalResourceQuota, exists bool) []Finding {
	const subject = "validatingwebhookconfiguration " + hnc.QuotaWebhookName
	needed := 0
	for i := range quotas {
		ready := meta.FindStatusCondition(quotas[i].Status.Conditions, hnc.ConditionReady)
		_, counts := quotas[i].Spec.Hard[hnc.ResourceSubnamespaces]
		limited := len(quotas[i].Spec.Hard) > 1 || !counts
		if limited && ready != nil && (ready.Reason == hnc.ReasonQuotaReserved || ready.Reason == hnc.ReasonPending && ready.Message == hnc.MessageQuotaWebhookPending) {
			needed++
		}
	}
	switch {
	case needed == 0:
		return nil
	case !exists:
		return []Finding{{Error, subject, "it does not exist, so that the use in several namespaces may exceed a hierarchical quota",
			"hns-propagator creates it: look at its log in " + hnc.SystemNamespace}}
	}
	return []Finding{ok(subject, "it exists")}
}
