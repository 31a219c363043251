// Package access knows which namespaces a user may get by RBAC. It does not ask for each user and namespace: it counts, for
// each subject, the bindings that let it get a namespace, and so knows at once what a change of a binding or a role means.
// It has no clients and does no I/O.
//
// What counts is what kube-apiserver's RBAC authorizer allows: the verb get on the resource namespaces of the core group, by a
// RoleBinding in the very namespace or by a ClusterRoleBinding.
package access

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Reach is which namespaces a role lets its holders get where it is bound. The zero value is none.
type Reach struct {
	// All says that it is every namespace.
	All bool
	// Names are the only ones, if not All; sorted.
	Names []string
}

// ReachOf returns the reach of a role with these rules.
func ReachOf(rules []rbacv1.PolicyRule) Reach {
	var names []string
	for _, rule := range rules {
		if !covers(rule.Verbs, "get") || !covers(rule.APIGroups, "") || !covers(rule.Resources, "namespaces") {
			continue
		}
		if len(rule.ResourceNames) == 0 {
			return Reach{All: true}
		}
		names = append(names, rule.ResourceNames...)
	}
	slices.Sort(names)
	return Reach{Names: slices.Compact(names)}
}

// covers says whether a list of a rule names the value; the wildcard is the same for verbs, groups and resources.
func covers(list []string, value string) bool {
	return slices.Contains(list, value) || slices.Contains(list, rbacv1.VerbAll)
}

func (r Reach) has(namespace string) bool {
	if r.All {
		return true
	}
	_, found := slices.BinarySearch(r.Names, namespace)
	return found
}

func (r Reach) none() bool { return !r.All && len(r.Names) == 0 }

func (r Reach) equal(o Reach) bool { return r.All == o.All && slices.Equal(r.Names, o.Names) }
