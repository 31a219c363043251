package cache

import (
	"cmp"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// quotaRecords enters changes of quotas in the state, and notifies the handlers.
type quotaRecords struct{ *State }

func (s quotaRecords) set(q *quotas.Quota) {
	if old, changed := s.Quotas.SetQuota(q); changed {
		s.changed(old, q)
	}
}

func (s quotaRecords) delete(q *quotas.Quota) {
	if old := s.Quotas.DeleteQuota(q.Key, q.UID); old != nil {
		s.changed(old, nil)
	}
}

func (s quotaRecords) changed(old, q *quotas.Quota) {
	either := cmp.Or(q, old)
	if !names.Addressable(either.Name) {
		if s.Tree.SetUnreported(either.Namespace, hierarchicalQuotas, either.Name, q != nil) {
			s.affect(tree.Affected{Changed: []string{either.Namespace}})
		}
	}
	for _, h := range s.handlers {
		if h.QuotaChanged != nil {
			h.QuotaChanged(s.State, old, q)
		}
	}
}

func (s quotaRecords) setObject(o *quotas.Object) {
	if old, changed := s.Quotas.SetObject(o); changed {
		s.objectChanged(old, o)
	}
}

func (s quotaRecords) deleteObject(o *quotas.Object) {
	if old := s.Quotas.DeleteObject(o.Key, o.UID); old != nil {
		s.objectChanged(old, nil)
	}
}

func (s quotaRecords) objectChanged(old, o *quotas.Object) {
	for _, h := range s.handlers {
		if h.QuotaObjectChanged != nil {
			h.QuotaObjectChanged(s.State, old, o)
		}
	}
}

// setWebhook records the registration of the webhook, nil if there is none.
func (s quotaRecords) setWebhook(w *admissionv1.ValidatingWebhookConfiguration) {
	s.QuotaWebhook = w
	for _, h := range s.handlers {
		if h.QuotaWebhookChanged != nil {
			h.QuotaWebhookChanged(s.State)
		}
	}
}
