package reservations

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"
)

// countedNames is the annotation of a ResourceQuota in the cache with the names of the limits in its status, in order.
// No stored object can have a key with a space.
const countedNames = "counted names"

// OnlyUse leaves of a ResourceQuota in the cache what a ledger needs of it: its use without the zeros, and the names of
// the limits in its status as one text. As a map, a thousand of these need 100 KiB in each namespace of a tree.
func OnlyUse(obj any) (any, error) {
	rq, ok := obj.(*corev1.ResourceQuota)
	if !ok {
		return obj, nil
	}
	counted := rq.Annotations[countedNames] // It may have been called with the result before.
	if rq.Status.Hard != nil {
		var names []string
		for name := range rq.Status.Hard {
			names = append(names, string(name))
		}
		slices.Sort(names)
		counted = strings.Join(names, " ")
	}
	rq.Annotations = map[string]string{countedNames: counted}
	rq.ManagedFields, rq.Spec, rq.Status.Hard = nil, corev1.ResourceQuotaSpec{}, nil
	rq.Status.Used = quotav1.RemoveZeros(rq.Status.Used)
	return rq, nil
}

// hasCounted reports whether kube-controller-manager has counted the use of resources, according to a ResourceQuota in
// the cache.
func hasCounted(rq *corev1.ResourceQuota, resources []corev1.ResourceName) bool {
	names := strings.Fields(rq.Annotations[countedNames])
	return !slices.ContainsFunc(resources, func(name corev1.ResourceName) bool {
		_, found := slices.BinarySearch(names, string(name))
		return !found
	})
}
