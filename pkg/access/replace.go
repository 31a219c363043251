package access

// ReplaceRoles records all roles there are: all ClusterRoles, or all Roles.
func (x *Index) ReplaceRoles(cluster bool, all map[Role]Reach) {
	for name, reach := range all {
		x.SetRole(name, reach)
	}
	for name, r := range x.roles {
		if _, there := all[name]; !there && r.exists && (name.Namespace == "") == cluster {
			x.DeleteRole(name)
		}
	}
}

// ReplaceBindings records all bindings there are: all ClusterRoleBindings, or all RoleBindings.
func (x *Index) ReplaceBindings(cluster bool, all map[Key]Binding) {
	for _, b := range all {
		x.SetBinding(b)
	}
	for key := range x.bindings {
		if _, there := all[key]; !there && (key.Namespace == "") == cluster {
			x.DeleteBinding(key)
		}
	}
}
