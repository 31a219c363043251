package quotas

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// Limits are the limits of all quotas of one scope that apply to a namespace.
type Limits struct {
	Hard     corev1.ResourceList
	Scopes   []corev1.ResourceQuotaScope
	Selector *corev1.ScopeSelector
}

// Governing returns the quotas that apply to a namespace: its own and those of its ancestors. Those in namespaces that
// are excluded from hierarchies apply nowhere.
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

// Fitting returns those of the quotas that apply to a namespace that fit into its ResourceQuotas, those of the root
// first: no quota keeps out one from above. More than fit are not accepted, but may have been stored before that, and
// come together by a move.
func (s *Store) Fitting(t *tree.Tree, namespace string) (fitting []*Quota) {
	if len(s.quotas) == 0 {
		return nil
	}
	var room quota.Room
	for _, at := range slices.Backward(t.Chain(namespace)) {
		if len(s.quotas[at]) == 0 || t.Excluded(at) {
			continue
		}
		for _, q := range s.QuotasIn(at) {
			if room.Add(q.Scope, q.Size) {
				fitting = append(fitting, q)
			}
		}
	}
	return fitting
}

// Fits reports whether a quota fits into the ResourceQuotas of its subtree.
func (s *Store) Fits(t *tree.Tree, q *Quota) bool {
	return slices.ContainsFunc(s.Fitting(t, q.Namespace), func(fitting *Quota) bool { return fitting.Key == q.Key })
}

// Limits returns, by scope, the limits that ResourceQuotas have to enforce in a namespace: of each resource the lowest
// that a quota allows the namespace. allows returns what a quota allows the namespace.
func (s *Store) Limits(t *tree.Tree, namespace string, allows func(*Quota) corev1.ResourceList) map[quota.Scope]*Limits {
	limits := map[quota.Scope]*Limits{}
	for _, q := range s.Fitting(t, namespace) {
		allowed := allows(q)
		if len(allowed) == 0 {
			continue
		}
		l := limits[q.Scope]
		if l == nil {
			l = &Limits{Hard: corev1.ResourceList{}, Scopes: q.Scopes, Selector: q.Selector}
			limits[q.Scope] = l
		}
		quota.Restrict(l.Hard, allowed)
	}
	return limits
}
