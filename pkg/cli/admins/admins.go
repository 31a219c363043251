// Package admins finds the admins of a namespace in the sense of the rules for moves: the subjects allowed to update hierarchies, or
// hierarchyconfigurations, in it. It has no clients. Source: spec/hnc.md 2.4.2.
package admins

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Grant is one binding that makes a subject an admin.
type Grant struct {
	Subject rbacv1.Subject `json:"subject"`
	// Role and Binding are a kind and a name, such as ClusterRole/admin and RoleBinding/admins.
	Role    string `json:"role"`
	Binding string `json:"binding"`
	// At is the namespace in which the binding was created, the namespace itself or an ancestor; empty for the whole cluster.
	At string `json:"at,omitempty"`
}

// Rights holds the RBAC objects that apply to a namespace, as far as they could be read.
type Rights struct {
	Roles        []rbacv1.Role
	Bindings     []rbacv1.RoleBinding
	ClusterRoles map[string]rbacv1.ClusterRole
	// AllClusterRoles says that ClusterRoles is complete: any other ClusterRole does not exist and grants nothing.
	AllClusterRoles     bool
	ClusterRoleBindings []rbacv1.ClusterRoleBinding
}

// installed says which of Kubernetes' own ClusterRoles, unchanged, make a subject an admin. Most bindings use them, but few users may read them.
var installed = map[string]bool{"cluster-admin": true, "admin": true, "edit": false, "view": false}

// Find returns the grants, those of the whole cluster last, and the ClusterRoles that are bound but could not be read. Kubernetes' own
// ClusterRoles among these are assumed to be unchanged.
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

// Installed reports whether a ClusterRole is one of those that are assumed to be unchanged.
func Installed(clusterRole string) bool {
	_, ok := installed[clusterRole]
	return ok
}

// allow reports whether the rules permit updating hierarchies of every name.
func allow(rules []rbacv1.PolicyRule) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return len(r.ResourceNames) == 0 && holds(r.Verbs, "update") && holds(r.APIGroups, hnc.GroupName) &&
			(holds(r.Resources, "hierarchies") || holds(r.Resources, "hierarchyconfigurations"))
	})
}

func holds(values []string, value string) bool {
	return slices.Contains(values, value) || slices.Contains(values, "*")
}
