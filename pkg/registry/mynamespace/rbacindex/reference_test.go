package rbacindex

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// cluster is a set of RBAC objects, evaluated as kube-apiserver's authorizer does: for one user and one namespace,
// across all bindings and rules.
type cluster struct {
	roles    map[Role][]rbacv1.PolicyRule
	bindings map[BindingKey]reference
}

type reference struct {
	role     rbacv1.RoleRef
	subjects []rbacv1.Subject
}

func (c *cluster) allows(user string, groups []string, namespace string) bool {
	if slices.Contains(groups, "system:masters") {
		return true
	}
	for key, b := range c.bindings {
		if key.Namespace != "" && key.Namespace != namespace {
			continue
		}
		if !slices.ContainsFunc(b.subjects, func(s rbacv1.Subject) bool { return applies(s, key.Namespace, user, groups) }) {
			continue
		}
		var rules []rbacv1.PolicyRule
		switch b.role.Kind {
		case "ClusterRole":
			rules = c.roles[Role{Name: b.role.Name}]
		case "Role":
			if key.Namespace == "" {
				continue // a ClusterRoleBinding cannot bind a Role
			}
			rules = c.roles[Role{Namespace: key.Namespace, Name: b.role.Name}]
		}
		if slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return ruleAllows(r, namespace) }) {
			return true
		}
	}
	return false
}

func applies(s rbacv1.Subject, namespace, user string, groups []string) bool {
	switch s.Kind {
	case "User":
		return user == s.Name
	case "Group":
		return slices.Contains(groups, s.Name)
	case "ServiceAccount":
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return namespace != "" && user == "system:serviceaccount:"+namespace+":"+s.Name
	}
	return false
}

func ruleAllows(r rbacv1.PolicyRule, name string) bool {
	either := func(list []string, value string) bool {
		for _, v := range list {
			if v == "*" || v == value {
				return true
			}
		}
		return false
	}
	return either(r.Verbs, "get") && either(r.APIGroups, "") && either(r.Resources, "namespaces") &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name))
}
