package hnc

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// QuotaSummaries returns used and hard of each resource in hard, in the order of their names: "pods: 1/3, secrets:
// 0/6". Resources whose names begin with "limits." are in limits, all others in requests. Source: docs/spec/hnc.md 1.5
// and 3.13.
func QuotaSummaries(hard, used map[corev1.ResourceName]resource.Quantity) (requests, limits string) {
	var r, l []string
	for name, quantity := range hard {
		use := used[name]
		cell := string(name) + ": " + use.String() + "/" + quantity.String()
		if strings.HasPrefix(string(name), "limits.") {
			l = append(l, cell)
		} else {
			r = append(r, cell)
		}
	}
	slices.Sort(r)
	slices.Sort(l)
	return strings.Join(r, ", "), strings.Join(l, ", ")
}

// HasScopes reports whether the quota counts only some of the objects.
func (s *HierarchicalResourceQuotaSpec) HasScopes() bool {
	return len(s.Scopes) > 0 || (s.ScopeSelector != nil && len(s.ScopeSelector.MatchExpressions) > 0)
}

// scopeValueSize is what each value of a scope selector counts besides its length: it costs time even if it is empty.
const scopeValueSize = 16

// ScopesSize returns the size of the scopes and the scope selector in what is limited, in bytes.
func (s *HierarchicalResourceQuotaSpec) ScopesSize() (n int) {
	for _, scope := range s.Scopes {
		n += len(scope)
	}
	if s.ScopeSelector == nil {
		return n
	}
	for _, requirement := range s.ScopeSelector.MatchExpressions {
		n += len(requirement.ScopeName) + len(requirement.Operator)
		for _, value := range requirement.Values {
			n += scopeValueSize + len(value)
		}
	}
	return n
}

// CountsOfQuotas are the numbers of ResourceQuotas. They are not limited: a namespace would have no room for the
// ResourceQuota of a quota that is created above it later.
var CountsOfQuotas = []corev1.ResourceName{corev1.ResourceQuotas, "count/resourcequotas"}

// PolicyCounts are the numbers of objects of the kinds that grant or restrict in a namespace. They are not limited: users
// who may create quotas could keep out such objects, inherited or applied by others.
var PolicyCounts = []corev1.ResourceName{
	"count/roles.rbac.authorization.k8s.io", "count/rolebindings.rbac.authorization.k8s.io",
	"count/networkpolicies.networking.k8s.io", "count/limitranges",
}
