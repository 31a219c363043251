package rbac

import (
	"encoding/json"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// status appends a converted error of the cluster: the names of Roles that are stored for ClusterRoles, and for a
// cluster-scoped resource its own name.
func (c *conversion) status(out, raw []byte) ([]byte, error) {
	return mapping.RewriteObject(out, raw, func(out []byte, field string, value []byte) ([]byte, bool, error) {
		switch field {
		case "message":
			return c.messageOut(out, value)
		case "details":
			out, err := c.details(out, value)
			return out, true, err
		}
		return append(out, value...), true, nil
	})
}

// details appends the converted details of an error.
func (c *conversion) details(out, raw []byte) ([]byte, error) {
	stored, kind := mapping.TextOf(raw, "name"), mapping.TextOf(raw, "kind")
	name, own := c.names.Shown(stored)
	if own {
		kind = c.shownKind(kind)
	} else if stored == "" && c.cluster && kind == c.storedPlural {
		kind = c.plural
	}
	return mapping.RewriteObject(out, raw, func(out []byte, field string, value []byte) ([]byte, bool, error) {
		switch {
		case field == "name" && own:
			return appendJSON(out, name)
		case field == "kind":
			return appendJSON(out, kind)
		case field == "causes":
			out, err := mapping.RewriteList(out, value, func(out []byte, _ int, cause []byte) ([]byte, bool, error) {
				out, err := mapping.RewriteObject(out, cause, func(out []byte, field string, value []byte) ([]byte, bool, error) {
					if field == "message" {
						return c.messageOut(out, value)
					}
					return append(out, value...), true, nil
				})
				return out, true, err
			})
			return out, true, err
		}
		return append(out, value...), true, nil
	})
}

// messageOut appends a converted message.
func (c *conversion) messageOut(out, raw []byte) ([]byte, bool, error) {
	var message string
	if err := json.Unmarshal(raw, &message); err != nil {
		return nil, false, err
	}
	return appendJSON(out, c.message(message))
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
