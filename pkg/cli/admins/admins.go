// Package admins finds the subjects that have a permission in a namespace by RBAC, above all its admins in the sense of
// the rules for moves (hnc.AdminResources). It has no clients.
package admins

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Permission is a verb on a resource, which may be a subresource such as pods/log.
type Permission struct{ Verb, Group, Resource string }

// admin are the permissions of which each makes an admin.
var admin = func() (admin []Permission) {
	for _, r := range hnc.AdminResources {
		admin = append(admin, Permission{hnc.AdminVerb, r.Group, r.Resource})
	}
	return admin
}()

// Grant is one binding that gives a subject a permission.
type Grant struct {
	Subject rbacv1.Subject `json:"subject"`
	// Role and Binding are a kind and a name, such as ClusterRole/admin and RoleBinding/admins.
	Role    string `json:"role"`
	Binding string `json:"binding"`
	// At is the namespace in which the binding was created, the namespace itself or an ancestor; empty for the whole
	// cluster.
	At string `json:"at,omitempty"`
	// Names are the only objects that the permission is for, if the role restricts it. Instead of all after the first
	// ten, the last one says how many there are.
	Names []string `json:"names,omitempty"`
	// Unknown says that the rules of the role could not be read.
	Unknown bool `json:"unknown,omitempty"`
}

// maxNames bounds the names of a grant. Each subject of a binding repeats it.
const maxNames = 10

// Permissions holds the RBAC objects that apply to a namespace, as far as they could be read.
type Permissions struct {
	Roles        []rbacv1.Role
	Bindings     []rbacv1.RoleBinding
	ClusterRoles map[string]rbacv1.ClusterRole
	// AllClusterRoles says that ClusterRoles is complete: any other ClusterRole does not exist and grants nothing.
	AllClusterRoles     bool
	ClusterRoleBindings []rbacv1.ClusterRoleBinding
}

// installed says which of Kubernetes' own ClusterRoles, unchanged, make a subject an admin. Most bindings use them, but
// few users may read them.
var installed = map[string]bool{superuser: true, "admin": true, "edit": false, "view": false}

// superuser is the ClusterRole that has all permissions.
const superuser = "cluster-admin"

// Admins returns the grants that make subjects admins, those of the whole cluster last, and the ClusterRoles that are
// bound but could not be read. Kubernetes' own ClusterRoles among these are assumed to be unchanged.
func (r *Permissions) Admins() (grants []Grant, unread []string) {
	found, unread := r.find(admin, installed)
	return slices.DeleteFunc(found, func(g Grant) bool { return g.Unknown || len(g.Names) > 0 }), unread
}

// Who returns the grants of a permission, and the ClusterRoles that are bound but could not be read, like Admins. Of
// these only cluster-admin is assumed to be unchanged; grants by others are Unknown.
func (r *Permissions) Who(p Permission) (grants []Grant, unread []string) {
	return r.find([]Permission{p}, map[string]bool{superuser: true})
}

// All returns a grant for each subject of each binding, whatever it permits.
func (r *Permissions) All() []Grant {
	grants, _ := r.find(nil, nil)
	return grants
}

// find returns the grants of any of the permissions, or all. assumed says which ClusterRoles that could not be read
// have a permission.
func (r *Permissions) find(permissions []Permission, assumed map[string]bool) (grants []Grant, unread []string) {
	roles := map[string][]rbacv1.PolicyRule{}
	for i := range r.Roles {
		roles[r.Roles[i].Name] = r.Roles[i].Rules
	}
	// granted returns what all grants by a role have in common, nil if there are none.
	granted := func(ref rbacv1.RoleRef) *Grant {
		g := &Grant{Role: ref.Kind + "/" + names.Shorten(ref.Name)}
		if permissions == nil {
			return g
		}
		rules := roles[ref.Name]
		if ref.Kind == "ClusterRole" {
			role, ok := r.ClusterRoles[ref.Name]
			if !ok && !r.AllClusterRoles {
				unread = append(unread, ref.Name)
				permitted, known := assumed[ref.Name]
				if known && !permitted {
					return nil
				}
				g.Unknown = !known
				return g
			}
			rules = role.Rules
		}
		permitted, only := allow(rules, permissions)
		if !permitted {
			return nil
		}
		for i, name := range only {
			if i == maxNames {
				g.Names = append(g.Names, fmt.Sprintf("and %d more", len(only)-maxNames))
				break
			}
			g.Names = append(g.Names, names.Shorten(name))
		}
		return g
	}
	add := func(subjects []rbacv1.Subject, common *Grant, binding, at string) {
		for _, subject := range subjects {
			g := *common
			g.Subject, g.Binding, g.At = subject, binding, at
			grants = append(grants, g)
		}
	}
	for i := range r.Bindings {
		b := &r.Bindings[i]
		common := granted(b.RoleRef)
		if common == nil {
			continue
		}
		at := b.Labels[hnc.LabelInheritedFrom]
		if at == "" {
			at = b.Namespace
		}
		add(b.Subjects, common, "RoleBinding/"+names.Shorten(b.Name), at)
	}
	for i := range r.ClusterRoleBindings {
		b := &r.ClusterRoleBindings[i]
		if common := granted(b.RoleRef); common != nil {
			add(b.Subjects, common, "ClusterRoleBinding/"+names.Shorten(b.Name), "")
		}
	}
	slices.Sort(unread)
	return grants, slices.Compact(unread)
}

// Installed reports whether a ClusterRole is one of those that Admins assumes to be unchanged.
func Installed(clusterRole string) bool {
	_, ok := installed[clusterRole]
	return ok
}

// allow reports whether the rules permit one of the permissions, and for which names only; none stands for every name.
func allow(rules []rbacv1.PolicyRule, permissions []Permission) (permitted bool, only []string) {
	for i := range rules {
		r := &rules[i]
		if !slices.ContainsFunc(permissions, func(p Permission) bool {
			return holds(r.Verbs, p.Verb) && holds(r.APIGroups, p.Group) && hasResource(r.Resources, p.Resource)
		}) {
			continue
		}
		if len(r.ResourceNames) == 0 {
			return true, nil
		}
		only = append(only, r.ResourceNames...)
	}
	slices.Sort(only)
	return len(only) > 0, slices.Compact(only)
}

func holds(values []string, value string) bool {
	return slices.Contains(values, value) || slices.Contains(values, "*")
}

// hasResource matches as RBAC does: "*/log" is the subresource log of every resource.
func hasResource(resources []string, resource string) bool {
	_, sub, isSub := strings.Cut(resource, "/")
	return holds(resources, resource) || isSub && slices.Contains(resources, "*/"+sub)
}
