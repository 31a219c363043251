package quota

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// InForce returns the limits of a list that can be in force, and the names of the others: limits that Kubernetes cannot
// count, and numbers of ResourceQuotas and of policy objects. Validation rejects those; they were stored before it did. Every reader of limits
// takes them from here.
func InForce(hard corev1.ResourceList) (limits corev1.ResourceList, ignored []corev1.ResourceName) {
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		quantity := hard[name]
		if !hnc.CountableAs(name, quantity) || quantity.Sign() < 0 || slices.Contains(hnc.PolicyCounts, name) || slices.Contains(hnc.CountsOfQuotas, name) {
			ignored = append(ignored, name)
		}
	}
	if len(ignored) == 0 {
		return hard, nil
	}
	limits = maps.Clone(hard)
	for _, name := range ignored {
		delete(limits, name)
	}
	return limits, ignored
}

// CountedResource returns the kind of the objects whose number a resource of quotas is.
func CountedResource(name corev1.ResourceName) (schema.GroupResource, bool) {
	switch name {
	case corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
		corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims:
		return schema.GroupResource{Resource: string(name)}, true
	case corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers:
		return schema.GroupResource{Resource: string(corev1.ResourceServices)}, true
	}
	counted, ok := strings.CutPrefix(string(name), "count/")
	return schema.ParseGroupResource(counted), ok
}

// Propagated reports whether objects of a kind are propagated from any namespace of a chain. Nil means that nothing is
// propagated.
type Propagated func(resource schema.GroupResource, chain []string) bool

// Lifts reports whether a resource is the number of objects of a kind that is propagated from any namespace of a chain,
// which is that of a quota's namespace. Such a limit is not in force: kube-apiserver counts copies like all objects, so
// it would keep out policy, or whoever fills it would. Kinds that are propagated from below only stay limited, because
// a tenant could otherwise lift limits from above.
func (p Propagated) Lifts(name corev1.ResourceName, chain []string) bool {
	resource, ok := CountedResource(name)
	return ok && p != nil && p(resource, chain)
}

// WhyPropagated says why a limit that Propagated lifts is not in force, and what to do.
const WhyPropagated = "such objects are propagated from the namespace of the quota or its ancestors, and the limit would keep copies out; remove it, " +
	"or set the mode Ignore for the kind"

// Counted returns the resources of a list that ResourceQuotas count: all but hnc.ResourceSubnamespaces, which our API
// server counts itself.
func Counted(list corev1.ResourceList) corev1.ResourceList {
	if _, ok := list[hnc.ResourceSubnamespaces]; !ok {
		return list
	}
	counted := maps.Clone(list)
	delete(counted, hnc.ResourceSubnamespaces)
	return counted
}

// Restrict lowers each limit in limits to that in hard, and adds those that limits does not contain.
func Restrict(limits, hard corev1.ResourceList) {
	for name, quantity := range hard {
		if known, ok := limits[name]; !ok || quantity.Cmp(known) < 0 {
			limits[name] = quantity
		}
	}
}
