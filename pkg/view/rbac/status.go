package rbac

import "strings"

// status converts an error of the cluster: the names of Roles that are stored for ClusterRoles, and for a
// cluster-scoped resource its own name.
func (c *conversion) status(o object) {
	details := child(o, "details")
	if stored := text(details, "name"); stored != "" {
		if name, ok := c.names.Shown(stored); ok {
			details["name"] = name
			details["kind"] = c.shownKind(text(details, "kind"))
		}
	} else if c.cluster && text(details, "kind") == c.storedPlural {
		details["kind"] = c.plural
	}
	o["message"] = c.message(text(o, "message"))
	causes, _ := details["causes"].([]any)
	for _, cause := range causes {
		if cause, ok := cause.(object); ok {
			cause["message"] = c.message(text(cause, "message"))
		}
	}
}

// shownKind returns the resource or kind in the view of an object with a name of the view. kube-apiserver names the
// binding's resource when a Role does not exist.
func (c *conversion) shownKind(kind string) string {
	switch {
	case kind == roles, kind == roleBindings && c.cluster:
		return "cluster" + kind
	case kind == "Role", kind == "RoleBinding" && c.cluster:
		return "Cluster" + kind
	}
	return kind
}

// message converts the words of a message that the API server writes about these resources.
func (c *conversion) message(message string) string {
	for _, kind := range []string{roles, roleBindings, "Role", "RoleBinding"} {
		const group = ".rbac.authorization.k8s.io"
		message = strings.ReplaceAll(message, kind+group+` "`+c.names.prefix, c.shownKind(kind)+group+` "`)
	}
	message = c.names.Text(message)
	if c.cluster {
		message = strings.ReplaceAll(message, c.storedPlural+".rbac.authorization.k8s.io is forbidden", c.plural+".rbac.authorization.k8s.io is forbidden")
		message = strings.ReplaceAll(message, `resource "`+c.storedPlural+`" in`, `resource "`+c.plural+`" in`)
	}
	return message
}
