package quota

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
)

// propagated reports whether a limit of a quota is not in force because it would keep out copies.
func propagated(s *cache.State, q *quotas.Quota, name corev1.ResourceName) bool {
	return quota.Propagated(s.Propagated).Lifts(name, s.Tree.Chain(q.Namespace))
}

// withoutPropagated returns a list without such limits.
func withoutPropagated(s *cache.State, q *quotas.Quota, list corev1.ResourceList) corev1.ResourceList {
	list = maps.Clone(list)
	maps.DeleteFunc(list, func(name corev1.ResourceName, _ resource.Quantity) bool { return propagated(s, q, name) })
	return list
}

// effective returns the limits of a quota that are in force.
func effective(s *cache.State, q *quotas.Quota) corev1.ResourceList {
	if s.Quotas.Fits(s.Tree, q) {
		return withoutPropagated(s, q, q.Hard)
	}
	hard := corev1.ResourceList{}
	if limit, ok := q.Hard[hnc.ResourceSubnamespaces]; ok {
		hard[hnc.ResourceSubnamespaces] = limit // No ResourceQuota contains it.
	}
	return hard
}

// maxIgnored is how many resources the condition Ready names.
const maxIgnored = 10

// notInForce says which limits of a quota are not in force, and why; "" if all are.
func notInForce(s *cache.State, q *quotas.Quota) string {
	var reasons []string
	for _, name := range q.Ignored {
		why := "it must be a number that ResourceQuotas accept"
		switch {
		case slices.Contains(hnc.PolicyCounts, name):
			why = "Roles, RoleBindings, NetworkPolicies and LimitRanges are not limited"
		case slices.Contains(hnc.CountsOfQuotas, name):
			why = "ResourceQuotas are not limited"
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s", name, why))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Counted)) {
		if propagated(s, q, name) {
			reasons = append(reasons, fmt.Sprintf("%s: %s", name, quota.WhyPropagated))
		}
	}
	return names.List(reasons, maxIgnored, "; ")
}

// kindChanged has the limits on numbers of objects of a kind follow its policies.
func (c *Controller) kindChanged(s *cache.State, kind int) {
	resource := s.Kind(kind).Index.Kind.GroupResource()
	for q := range s.Quotas.Quotas() {
		for name := range q.Counted {
			if counted, ok := quota.CountedResource(name); ok && counted == resource {
				c.enqueueSubtree(s, q.Namespace)
				c.enqueueStatus(q.Key)
				break
			}
		}
	}
}

// enqueueSubtree asks to reconcile the ResourceQuotas of a namespace and of its descendants.
func (c *Controller) enqueueSubtree(s *cache.State, namespace string) {
	for _, name := range append(s.Tree.Descendants(namespace), namespace) {
		c.enqueue(s, name)
	}
}
