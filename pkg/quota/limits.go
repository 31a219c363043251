package quota

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Counted returns the resources of a list that ResourceQuotas count: all but hnc.ResourceSubnamespaces, which our API server counts itself.
func Counted(list corev1.ResourceList) corev1.ResourceList {
	counted := corev1.ResourceList{}
	for name, quantity := range list {
		if name != hnc.ResourceSubnamespaces {
			counted[name] = quantity
		}
	}
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
