package rbacindex

// RoleGrant is a role with its grant.
type RoleGrant struct {
	Role
	Grant Grant
}

// ReplaceRoles replaces all ClusterRoles, or all Roles.
func (x *Index) ReplaceRoles(cluster bool, all []*RoleGrant) {
	there := make(map[Role]struct{}, len(all))
	for _, r := range all {
		there[r.Role] = struct{}{}
		x.SetRole(r.Role, r.Grant)
	}
	for name, r := range x.roles {
		if _, found := there[name]; !found && r.exists && (name.Namespace == "") == cluster {
			x.DeleteRole(name)
		}
	}
}

// ReplaceBindings replaces all ClusterRoleBindings, or all RoleBindings.
func (x *Index) ReplaceBindings(cluster bool, all []*Binding) {
	there := make(map[BindingKey]struct{}, len(all))
	for _, b := range all {
		there[b.BindingKey] = struct{}{}
		x.SetBinding(*b)
	}
	for key := range x.bindings {
		if _, found := there[key]; !found && (key.Namespace == "") == cluster {
			x.DeleteBinding(key)
		}
	}
}
