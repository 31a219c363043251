package quota

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// write is a write of one ResourceQuota: of wanted over present, either of which may be nil.
type write struct {
	quotas.Key
	present *quotas.Object
	wanted  *corev1.ResourceQuota
}

// planFor returns the writes that give a namespace the ResourceQuotas that it has to have, and whether
// kube-controller-manager has computed the use of those that are right. allows returns what a quota allows the
// namespace. Nothing is written in a namespace that is being deleted, which needs no limits either. No limit is raised
// or removed while an ancestor is missing or being deleted: its deletion must not release the namespace from the limits
// above.
func planFor(s *cache.State, namespace string, allows func(*quotas.Quota) corev1.ResourceList) (writes []write, computed bool) {
	if ns := s.Tree.Namespace(namespace); ns == nil || ns.Terminating {
		return nil, true
	}
	computed = true
	limits := s.Quotas.Limits(s.Tree, namespace, func(q *quotas.Quota) corev1.ResourceList { return withoutPropagated(s, q, allows(q)) })
	frozen := s.Tree.Frozen(namespace) && !s.Tree.Excluded(namespace)
	for _, scope := range slices.Sorted(maps.Keys(limits)) {
		w := write{Key: quotas.Key{Namespace: namespace, Name: scope.ObjectName()}, wanted: resourceQuota(namespace, scope, limits[scope])}
		if w.present = s.Quotas.Object(w.Key); frozen && w.present != nil {
			quota.Restrict(w.wanted.Spec.Hard, w.present.Hard)
		}
		switch {
		case w.present == nil || !right(w.present, scope, w.wanted):
			writes = append(writes, w)
		case !w.present.Counted():
			computed = false
		}
	}
	for _, o := range s.Quotas.ObjectsIn(namespace) {
		scope, ours := quota.ScopeOfObject(o.Name)
		if _, ok := limits[scope]; ours && !ok && !frozen {
			writes = append(writes, write{Key: o.Key, present: o})
		}
	}
	return writes, computed
}

// adjusts reports whether only the quantities of limits change.
func (w write) adjusts() bool {
	if w.present == nil || w.wanted == nil {
		return false
	}
	adjusted := *w.present
	adjusted.Hard = w.wanted.Spec.Hard
	scope, _ := quota.ScopeOfObject(w.Name)
	return right(&adjusted, scope, w.wanted) && sameResources(w.present.Hard, w.wanted.Spec.Hard)
}

// sameResources reports whether two lists contain the same resources.
func sameResources(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			return false
		}
	}
	return true
}

// right reports whether a ResourceQuota is as wanted.
func right(o *quotas.Object, scope quota.Scope, wanted *corev1.ResourceQuota) bool {
	return o.Scope == scope && o.NotPropagated && !o.Unreadable && equality.Semantic.DeepEqual(o.Hard, wanted.Spec.Hard)
}

// resourceQuota returns the ResourceQuota that holds a namespace to the limits of a scope.
func resourceQuota(namespace string, scope quota.Scope, limits *quotas.Limits) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        scope.ObjectName(),
			Labels:      map[string]string{hnc.LabelQuota: "true"},
			Annotations: map[string]string{hnc.AnnotationNone: "true"},
		},
		Spec: corev1.ResourceQuotaSpec{Hard: limits.Hard, Scopes: limits.Scopes, ScopeSelector: limits.Selector},
	}
}
