package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/quota"
)

// inherited reports whether a quota would limit the number of objects of a kind that its namespace inherits from above. Such a limit is not in force:
// kube-apiserver counts copies like all objects, so whoever may write quotas in a namespace could keep out policy that is set above it.
func inherited(s *cache.State, q *quotas.Quota, name corev1.ResourceName) bool {
	resource, ok := quota.CountedResource(name)
	return ok && s.Inherits(q.Namespace, resource)
}

// withoutInherited returns a list without such limits.
func withoutInherited(s *cache.State, q *quotas.Quota, list corev1.ResourceList) corev1.ResourceList {
	drop := func(name corev1.ResourceName) bool { return inherited(s, q, name) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(list)), drop) {
		return list
	}
	list = maps.Clone(list)
	for name := range list {
		if drop(name) {
			delete(list, name)
		}
	}
	return list
}

// effective returns the limits of a quota that are in force.
func effective(s *cache.State, q *quotas.Quota) corev1.ResourceList {
	if s.Quotas.Fits(s.Tree, q) {
		return withoutInherited(s, q, q.Hard)
	}
	hard := corev1.ResourceList{}
	if limit, ok := q.Hard[hnc.ResourceSubnamespaces]; ok {
		hard[hnc.ResourceSubnamespaces] = limit // No ResourceQuota contains it.
	}
	return hard
}

// maxIgnored is how many resources the condition Enforced names.
const maxIgnored = 10

// notInForce says which limits of a quota are not in force, and why; "" if all are.
func notInForce(s *cache.State, q *quotas.Quota) string {
	var reasons []string
	for _, name := range q.Ignored {
		why := fmt.Sprintf("it must be at most %d", int64(hnc.MaxQuantity))
		if slices.Contains(hnc.EnforcedCounts, name) {
			why = "Roles and RoleBindings are not limited"
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s", name, why))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Counted)) {
		if inherited(s, q, name) {
			reasons = append(reasons, fmt.Sprintf("%s: the namespace inherits such objects, which cannot be limited from below; set the limit in the root of the tree", name))
		}
	}
	if n := len(reasons) - maxIgnored; n > 0 {
		reasons = append(reasons[:maxIgnored], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(reasons, "; ")
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
