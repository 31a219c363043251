package quota

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	// MaxNamespaceSize is the sum of the sizes of the quotas in a namespace that are accepted.
	MaxNamespaceSize = 16 << 10
	// MaxChainSize is the sum of the sizes of the quotas that are enforced in a namespace: its own and those of its
	// ancestors. A ResourceQuota contains each name six times: in its limits, its status and their managed fields, so
	// it remains below half of what etcd accepts. So does a reservation.
	// Each namespace has such an object, which both servers have in memory.
	MaxChainSize = 32 << 10
	// MaxChainScopes is the number of different scopes of the quotas that are enforced in a namespace. Each is a
	// ResourceQuota in the namespace, and a record of its use.
	MaxChainScopes = 20
	// quotaSize is what a quota counts besides its limits: all of a chain are evaluated for each namespace below.
	quotaSize = 200
	// limitSize is the size of a limit besides its name.
	limitSize = 20
)

// Room is the room that quotas take in a namespace in which they are enforced. The zero value is that of none.
type Room struct {
	size   int
	scopes map[Scope]bool
}

// Add adds a quota of a scope and size, and reports whether it fits. One that does not fit takes no room.
func (r *Room) Add(scope Scope, size int) bool {
	if r.size+size > MaxChainSize || !r.scopes[scope] && len(r.scopes) >= MaxChainScopes {
		return false
	}
	if r.scopes == nil {
		r.scopes = map[Scope]bool{}
	}
	r.size += size
	r.scopes[scope] = true
	return true
}

// Size returns the size of a quota in the objects and records that enforce it, in bytes.
func Size(spec *hnc.HierarchicalResourceQuotaSpec) int {
	return quotaSize + spec.ScopesSize() + ListSize(spec.Hard)
}

// ListSize returns the size of resources with their quantities, in bytes.
func ListSize(list corev1.ResourceList) (n int) {
	for name := range list {
		n += limitSize + len(name)
	}
	return n
}
