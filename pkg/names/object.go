package names

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object names an object as kubectl does: rolebinding.rbac.authorization.k8s.io/admins.
func Object(kind schema.GroupKind, name string) string {
	title := strings.ToLower(kind.Kind)
	if kind.Group != "" {
		title += "." + kind.Group
	}
	return title + "/" + name
}
