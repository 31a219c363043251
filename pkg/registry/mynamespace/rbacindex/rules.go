// Package rbacindex indexes RBAC: it knows which namespaces each subject is allowed to get, and which of them a change
// of a role or binding affects. It has no clients and does no I/O.
//
// It evaluates what kube-apiserver's RBAC authorizer allows: the verb get on the resource namespaces of the core
// group, by a RoleBinding in that namespace or by a ClusterRoleBinding.
//
// No library answers this question. The RBAC authorizer (k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac) is not
// published for import and evaluates one request at a time across all bindings. A SubjectAccessReview per namespace
// takes 10 000 requests for one list in a large cluster, and none of them reports later changes. The index counts
// bindings per subject instead, so a list costs the namespaces that it returns, and a change costs the affected
// subjects (BenchmarkList and BenchmarkChangePerWatcher in pkg/registry/mynamespace). A test compares it with a
// direct evaluation of the rules.
package rbacindex

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Grant is the set of namespaces that a role allows its subjects to get where it is bound. The zero value is empty.
type Grant struct {
	// All includes every namespace.
	All bool
	// Names are the namespaces if All is false, sorted.
	Names []string
}

// GrantOf returns the grant of a role with these rules. namespace is "" for a ClusterRole; a Role is bound in its own
// namespace only, so the names of others are left out.
func GrantOf(namespace string, rules []rbacv1.PolicyRule) Grant {
	var names []string
	for _, rule := range rules {
		if !covers(rule.Verbs, "get") || !covers(rule.APIGroups, "") || !covers(rule.Resources, "namespaces") {
			continue
		}
		if len(rule.ResourceNames) == 0 {
			return Grant{All: true}
		}
		switch {
		case namespace == "":
			names = append(names, rule.ResourceNames...)
		case slices.Contains(rule.ResourceNames, namespace):
			names = []string{namespace}
		}
	}
	slices.Sort(names)
	return Grant{Names: slices.Compact(names)}
}

// covers reports whether a list of a rule contains the value or the wildcard, which is the same for verbs, groups and
// resources.
func covers(list []string, value string) bool {
	return slices.Contains(list, value) || slices.Contains(list, rbacv1.VerbAll)
}

func (r Grant) allows(namespace string) bool {
	if r.All {
		return true
	}
	_, found := slices.BinarySearch(r.Names, namespace)
	return found
}

func (r Grant) equal(o Grant) bool { return r.All == o.All && slices.Equal(r.Names, o.Names) }
