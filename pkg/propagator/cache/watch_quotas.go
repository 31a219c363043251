package cache

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

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

// QuotaCache is the part of the cache that concerns hierarchical quotas.
type QuotaCache struct{ *Cache }

// ForQuotas returns that part.
func (c *Cache) ForQuotas() QuotaCache { return QuotaCache{c} }

// watch watches the quotas, the ResourceQuotas that enforce them, and the registration of their webhook.
func (c QuotaCache) watch(ctx context.Context) {
	s := quotaRecords{c.state}
	q := c.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(metav1.NamespaceAll)
	reflect(ctx, c.Cache, hierarchicalQuotas, &v1beta1.HierarchicalResourceQuota{}, q, c.guard.watch(hierarchicalQuotas, q.Watch),
		c.guard.list(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return q.List(ctx, o) }),
		&store[*quotas.Quota]{
			convert: func(object any) (*quotas.Quota, error) {
				return quotas.NewQuota(object.(*v1beta1.HierarchicalResourceQuota))
			},
			set:    s.set,
			remove: s.delete,
			known:  s.Quotas.Quotas,
			identify: func(q *quotas.Quota) (types.NamespacedName, string) {
				return q.Key, q.ResourceVersion
			},
		})
	selector := labels.Set{hnc.LabelQuota: "true"}.String()
	rq := c.Kubernetes.CoreV1().ResourceQuotas(metav1.NamespaceAll)
	reflect(ctx, c.Cache, quotaObjects, &corev1.ResourceQuota{}, rq,
		func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = selector
			return rq.Watch(ctx, o)
		},
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = selector
			return rq.List(ctx, o)
		},
		&store[*quotas.Object]{
			convert: func(object any) (*quotas.Object, error) { return quotas.NewObject(object.(*corev1.ResourceQuota)), nil },
			set:     s.setObject,
			remove:  s.deleteObject,
			known:   s.Quotas.Objects,
			identify: func(o *quotas.Object) (types.NamespacedName, string) {
				return o.Key, o.ResourceVersion
			},
		})
	name := fields.OneTermEqualSelector(metav1.ObjectNameField, hnc.QuotaWebhookName).String()
	vwc := c.Kubernetes.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	reflect(ctx, c.Cache, quotaAdmission, &admissionv1.ValidatingWebhookConfiguration{}, vwc,
		func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = name
			return vwc.Watch(ctx, o)
		},
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = name
			return vwc.List(ctx, o)
		},
		&store[*admissionv1.ValidatingWebhookConfiguration]{
			convert: func(object any) (*admissionv1.ValidatingWebhookConfiguration, error) {
				return object.(*admissionv1.ValidatingWebhookConfiguration), nil
			},
			set:      s.setWebhook,
			remove:   func(*admissionv1.ValidatingWebhookConfiguration) { s.setWebhook(nil) },
			known:    one(&s.QuotaWebhook),
			identify: identify[*admissionv1.ValidatingWebhookConfiguration],
		})
}

// Observe does the same as ObserveNamespace.
func (c QuotaCache) Observe(q *v1beta1.HierarchicalResourceQuota) {
	record, err := quotas.NewQuota(q)
	if err != nil {
		return // The watch brings it.
	}
	c.Update(func(s *State) {
		if s.versions.ahead(hierarchicalQuotas, q.ResourceVersion) {
			quotaRecords{s}.set(record)
		}
	})
}

// ObserveResourceQuota does the same as ObserveNamespace.
func (c QuotaCache) ObserveResourceQuota(o *corev1.ResourceQuota) {
	c.Update(func(s *State) {
		if s.versions.ahead(quotaObjects, o.ResourceVersion) {
			quotaRecords{s}.setObject(quotas.NewObject(o))
		}
	})
}

// ObserveWebhook does the same as ObserveNamespace.
func (c QuotaCache) ObserveWebhook(w *admissionv1.ValidatingWebhookConfiguration) {
	c.Update(func(s *State) {
		if s.versions.ahead(quotaAdmission, w.ResourceVersion) {
			quotaRecords{s}.setWebhook(w)
		}
	})
}
