// Package admins finds who is admin of a namespace, in the sense of the rules for moves: who may update hierarchies, or
// hierarchyconfigurations, in it. It has no clients. Source: spec/hnc.md 2.4.2.
package admins

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Grant is one way in which somebody is admin.
type Grant struct {
	Subject rbacv1.Subject `json:"subject"`
	// Role and Binding are such as ClusterRole/admin and RoleBinding/admins.
	Role    string `json:"role"`
	Binding string `json:"binding"`
	// At is the namespace in which the binding was made, the namespace itself or an ancestor; empty for the whole cluster.
	At string `json:"at,omitempty"`
}

// Rights are what RBAC says about a namespace, as far as it could be read.
type Rights struct {
	Roles        []rbacv1.Role
	Bindings     []rbacv1.RoleBinding
	ClusterRoles map[string]rbacv1.ClusterRole
	// AllClusterRoles says that a ClusterRole that is not among them does not exist, and so grants nothing.
	AllClusterRoles     bool
	ClusterRoleBindings []rbacv1.ClusterRoleBinding
}

// installed are what is said of Kubernetes' own ClusterRoles when nobody has changed them: few may read them, and most use them.
var installed = map[string]bool{"cluster-admin": true, "admin": true, "edit": false, "view": false}

// Find returns the grants, those of the whole cluster last, and the ClusterRoles that are bound but could not be read. Of these,
// Kubernetes' own are taken to be as they are installed.
func (r *Rights) Find() (grants []Grant, unread []string) {
	roles := map[string][]rbacv1.PolicyRule{}
	for i := range r.Roles {
		roles[r.Roles[i].Name] = r.Roles[i].Rules
	}
	granted := func(ref rbacv1.RoleRef) bool {
		if ref.Kind != "ClusterRole" {
			return allow(roles[ref.Name])
		}
		role, ok := r.ClusterRoles[ref.Name]
		if !ok && !r.AllClusterRoles {
			unread = append(unread, ref.Name)
			return installed[ref.Name]
		}
		return allow(role.Rules)
	}
	add := func(subjects []rbacv1.Subject, ref rbacv1.RoleRef, binding, at string) {
		for _, subject := range subjects {
			grants = append(grants, Grant{Subject: subject, Role: ref.Kind + "/" + ref.Name, Binding: binding, At: at})
		}
	}
	for i := range r.Bindings {
		b := &r.Bindings[i]
		if !granted(b.RoleRef) {
			continue
		}
		at := b.Labels[hnc.LabelInheritedFrom]
		if at == "" {
			at = b.Namespace
		}
		add(b.Subjects, b.RoleRef, "RoleBinding/"+b.Name, at)
	}
	for i := range r.ClusterRoleBindings {
		if b := &r.ClusterRoleBindings[i]; granted(b.RoleRef) {
			add(b.Subjects, b.RoleRef, "ClusterRoleBinding/"+b.Name, "")
		}
	}
	slices.Sort(unread)
	return grants, slices.Compact(unread)
}

// Installed says whether a ClusterRole is one of those that are taken to be as they are installed.
func Installed(clusterRole string) bool {
	_, ok := installed[clusterRole]
	return ok
}

// allow says whether the rules permit updating hierarchies of every name.
func allow(rules []rbacv1.PolicyRule) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return len(r.ResourceNames) == 0 && holds(r.Verbs, "update") && holds(r.APIGroups, hnc.GroupName) &&
			(holds(r.Resources, "hierarchies") || holds(r.Resources, "hierarchyconfigurations"))
	})
}

func holds(values []string, value string) bool {
	return slices.Contains(values, value) || slices.Contains(values, "*")
}
