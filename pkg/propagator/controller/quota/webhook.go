package quota

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// increases is a CEL expression that is true if a write of the status of a ResourceQuota increases some use. Decreases
// never call the webhook.
const increases = `has(object.status.used) && object.status.used.exists(r, !has(oldObject.status.used) || !(r in oldObject.status.used) || ` +
	`quantity(object.status.used[r]).isGreaterThan(quantity(oldObject.status.used[r])))`

// webhooks returns the webhooks. One is that by which kube-apiserver asks our API server before its quota admission
// records use. It calls itself, with its own identity, and forwards the request like any request for our API: so it is
// authenticated and authorized like one, and needs no certificate. The other one rejects probes.
func webhooks() []admissionv1.ValidatingWebhook {
	return []admissionv1.ValidatingWebhook{
		webhook(hnc.QuotaWebhookName, admissionv1.Update, "resourcequotas/status",
			admissionv1.MatchCondition{Name: "quota-admission", Expression: `request.userInfo.username == 'system:apiserver'`},
			admissionv1.MatchCondition{Name: "increases", Expression: increases}),
		webhook(hnc.QuotaProbeWebhookName, admissionv1.Create, "resourcequotas",
			admissionv1.MatchCondition{Name: "probe", Expression: `has(request.dryRun) && request.dryRun && request.name == '` + hnc.QuotaProbeName + `'`}),
	}
}

func webhook(name string, operation admissionv1.OperationType, resource string, conditions ...admissionv1.MatchCondition) admissionv1.ValidatingWebhook {
	return admissionv1.ValidatingWebhook{
		Name: name,
		ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{
			Namespace: metav1.NamespaceDefault, Name: "kubernetes", Port: ptr.To[int32](443),
			Path: ptr.To("/apis/" + v1beta1.SchemeGroupVersion.String() + "/quotareservations"),
		}},
		Rules: []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{operation},
			Rule: admissionv1.Rule{
				APIGroups: []string{corev1.GroupName}, APIVersions: []string{"v1"}, Resources: []string{resource},
				Scope: ptr.To(admissionv1.NamespacedScope),
			},
		}},
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{hnc.LabelQuota: "true"}},
		MatchConditions:         conditions,
		FailurePolicy:           ptr.To(admissionv1.Fail),
		MatchPolicy:             ptr.To(admissionv1.Equivalent),
		SideEffects:             ptr.To(admissionv1.SideEffectClassNoneOnDryRun),
		TimeoutSeconds:          ptr.To[int32](10),
		AdmissionReviewVersions: []string{"v1"},
	}
}

// labels are those of everything that belongs to an installation, which goes with it.
var labels = map[string]string{hnc.LabelPartOf: hnc.PartOf}

// registered reports whether a registration is as wanted.
func registered(w *admissionv1.ValidatingWebhookConfiguration) bool {
	return w != nil && equality.Semantic.DeepEqual(w.Webhooks, webhooks()) && equality.Semantic.DeepEqual(w.Labels, labels)
}

// registrationDue reports whether the webhook has to be registered: while there is a quota that it serves.
func registrationDue(s *cache.State, mode Mode) bool {
	if mode != Reserve {
		return false
	}
	for q := range s.Quotas.Quotas() {
		if len(q.Counted) > 0 && !s.Tree.Excluded(q.Namespace) {
			return true
		}
	}
	return false
}
