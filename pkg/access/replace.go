package access

// RoleReach is a role that exists, with its reach.
type RoleReach struct {
	Role
	Reach Reach
}

// ReplaceRoles records all roles there are: all ClusterRoles, or all Roles.
func (x *Index) ReplaceRoles(cluster bool, all []*RoleReach) {
	there := make(map[Role]struct{}, len(all))
	for _, r := range all {
		there[r.Role] = struct{}{}
		x.SetRole(r.Role, r.Reach)
	}
	for name, r := range x.roles {
		if _, found := there[name]; !found && r.exists && (name.Namespace == "") == cluster {
			x.DeleteRole(name)
		}
	}
}

// ReplaceBindings records all bindings there are: all ClusterRoleBindings, or all RoleBindings.
func (x *Index) ReplaceBindings(cluster bool, all []*Binding) {
	there := make(map[Key]struct{}, len(all))
	for _, b := range all {
		there[b.Key] = struct{}{}
		x.SetBinding(*b)
	}
	for key := range x.bindings {
		if _, found := there[key]; !found && (key.Namespace == "") == cluster {
			x.DeleteBinding(key)
		}
	}
}
