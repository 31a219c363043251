package cache

import (
	"cmp"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

func (s *State) setQuota(q *quotas.Quota) {
	if old, changed := s.Quotas.SetQuota(q); changed {
		s.quotaChanged(old, q)
	}
}

func (s *State) deleteQuota(q *quotas.Quota) {
	if old := s.Quotas.DeleteQuota(q.Key, q.UID); old != nil {
		s.quotaChanged(old, nil)
	}
}

func (s *State) quotaChanged(old, q *quotas.Quota) {
	either := cmp.Or(q, old)
	if !names.Addressable(either.Name) {
		if s.Tree.SetUnreported(either.Namespace, hierarchicalQuotas, either.Name, q != nil) {
			s.affect(tree.Affected{Changed: []string{either.Namespace}})
		}
	}
	for _, h := range s.handlers {
		if h.QuotaChanged != nil {
			h.QuotaChanged(s, old, q)
		}
	}
}

func (s *State) setQuotaObject(o *quotas.Object) {
	if old, changed := s.Quotas.SetObject(o); changed {
		s.quotaObjectChanged(old, o)
	}
}

func (s *State) deleteQuotaObject(o *quotas.Object) {
	if old := s.Quotas.DeleteObject(o.Key, o.UID); old != nil {
		s.quotaObjectChanged(old, nil)
	}
}

func (s *State) quotaObjectChanged(old, o *quotas.Object) {
	for _, h := range s.handlers {
		if h.QuotaObjectChanged != nil {
			h.QuotaObjectChanged(s, old, o)
		}
	}
}

// setQuotaWebhook records the registration of the webhook, nil if there is none.
func (s *State) setQuotaWebhook(w *admissionv1.ValidatingWebhookConfiguration) {
	s.QuotaWebhook = w
	for _, h := range s.handlers {
		if h.QuotaWebhookChanged != nil {
			h.QuotaWebhookChanged(s)
		}
	}
}
