package cache

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// The resources that hierarchical quotas consist of. Users may propagate ResourceQuotas; the versions of that watch are
// others.
const (
	hierarchicalQuotas = "hierarchicalresourcequotas"
	quotaObjects       = "resourcequotas with the label " + hnc.LabelQuota
	quotaAdmission     = "validatingwebhookconfigurations"
)

// watchQuotas watches the quotas, the ResourceQuotas that enforce them, and the registration of their webhook.
func (c *Cache) watchQuotas(ctx context.Context) {
	s := c.state
	q := c.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(metav1.NamespaceAll)
	reflect(ctx, c, hierarchicalQuotas, &v1beta1.HierarchicalResourceQuota{}, q, guarded(c.guard, hierarchicalQuotas, q),
		&store[*quotas.Quota]{
			convert: func(object any) (*quotas.Quota, error) {
				return quotas.NewQuota(object.(*v1beta1.HierarchicalResourceQuota))
			},
			set:    s.setQuota,
			remove: s.deleteQuota,
			known:  s.Quotas.Quotas,
			identify: func(q *quotas.Quota) (types.NamespacedName, string) {
				return q.Key, q.ResourceVersion
			},
		})
	selector := labels.Set{hnc.LabelQuota: "true"}.String()
	rq := c.Kubernetes.CoreV1().ResourceQuotas(metav1.NamespaceAll)
	reflect(ctx, c, quotaObjects, &corev1.ResourceQuota{}, rq, listWatch(rq, func(o *metav1.ListOptions) { o.LabelSelector = selector }),
		&store[*quotas.Object]{
			convert: func(object any) (*quotas.Object, error) { return quotas.NewObject(object.(*corev1.ResourceQuota)), nil },
			set:     s.setQuotaObject,
			remove:  s.deleteQuotaObject,
			known:   s.Quotas.Objects,
			identify: func(o *quotas.Object) (types.NamespacedName, string) {
				return o.Key, o.ResourceVersion
			},
		})
	name := fields.OneTermEqualSelector(metav1.ObjectNameField, hnc.QuotaWebhookName).String()
	vwc := c.Kubernetes.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	reflect(ctx, c, quotaAdmission, &admissionv1.ValidatingWebhookConfiguration{}, vwc, listWatch(vwc, func(o *metav1.ListOptions) { o.FieldSelector = name }),
		&store[*admissionv1.ValidatingWebhookConfiguration]{
			convert: func(object any) (*admissionv1.ValidatingWebhookConfiguration, error) {
				return object.(*admissionv1.ValidatingWebhookConfiguration), nil
			},
			set:      s.setQuotaWebhook,
			remove:   func(*admissionv1.ValidatingWebhookConfiguration) { s.setQuotaWebhook(nil) },
			known:    one(&s.QuotaWebhook),
			identify: identify[*admissionv1.ValidatingWebhookConfiguration],
		})
}

// ObserveQuota does the same as ObserveNamespace.
func (c *Cache) ObserveQuota(q *v1beta1.HierarchicalResourceQuota) {
	record, err := quotas.NewQuota(q)
	if err != nil {
		return // The watch brings it.
	}
	c.observe(hierarchicalQuotas, q.ResourceVersion, func(s *State) { s.setQuota(record) })
}

// ObserveResourceQuota does the same as ObserveNamespace.
func (c *Cache) ObserveResourceQuota(o *corev1.ResourceQuota) {
	c.observe(quotaObjects, o.ResourceVersion, func(s *State) { s.setQuotaObject(quotas.NewObject(o)) })
}

// ObserveQuotaWebhook does the same as ObserveNamespace.
func (c *Cache) ObserveQuotaWebhook(w *admissionv1.ValidatingWebhookConfiguration) {
	c.observe(quotaAdmission, w.ResourceVersion, func(s *State) { s.setQuotaWebhook(w) })
}
