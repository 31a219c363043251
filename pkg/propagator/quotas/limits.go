package quotas

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/quota"
)

// Limits are the limits of all quotas of one scope that apply to a namespace.
type Limits struct {
	Hard     corev1.ResourceList
	Scopes   []corev1.ResourceQuotaScope
	Selector *corev1.ScopeSelector
}

// Governing returns the quotas that apply to a namespace: its own and those of its ancestors. Those in namespaces that are excluded from hierarchies
// apply nowhere.
func (s *Store) Governing(t *tree.Tree, namespace string) []*Quota {
	if len(s.quotas) == 0 {
		return nil
	}
	var governing []*Quota
	for _, at := range t.Chain(namespace) {
		if len(s.quotas[at]) > 0 && !t.Excluded(at) {
			governing = append(governing, s.QuotasIn(at)...)
		}
	}
	return governing
}

// Limits returns, by scope, the limits that ResourceQuotas have to enforce in a namespace: of each resource the lowest that a quota allows the
// namespace. allows returns what a quota allows the namespace.
func (s *Store) Limits(t *tree.Tree, namespace string, allows func(*Quota) corev1.ResourceList) map[quota.Scope]*Limits {
	limits := map[quota.Scope]*Limits{}
	for _, q := range s.Governing(t, namespace) {
		if len(q.Counted) == 0 {
			continue
		}
		l := limits[q.Scope]
		if l == nil {
			l = &Limits{Hard: corev1.ResourceList{}, Scopes: q.Scopes, Selector: q.Selector}
			limits[q.Scope] = l
		}
		quota.Restrict(l.Hard, allows(q))
	}
	return limits
}
