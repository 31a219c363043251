// Package rbac shows Roles and RoleBindings of a view's root as the ClusterRoles and ClusterRoleBindings of the view.
//
// A Role and a RoleBinding of the root are propagated to all descendants, which is what "in the whole cluster" means in
// a view. Every write is one of the caller in the root, so that kube-apiserver checks for escalation what it always
// checks.
package rbac

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// Resources of a view, and of the cluster.
const (
	ClusterRoles        = "clusterroles"
	ClusterRoleBindings = "clusterrolebindings"
	roles               = "roles"
	roleBindings        = "rolebindings"
)

// clusterNames are the ClusterRoles of the cluster that are also those of a view: a binding to one of them means it.
var clusterNames = sets.New("view", "edit", "admin", "cluster-admin")

// systemPrefix begins the names of Kubernetes' own ClusterRoles, which mean the cluster's in a view, too.
const systemPrefix = "system:"

// OfCluster reports whether a name in the view is that of a ClusterRole of the cluster.
func OfCluster(clusterRole string) bool {
	return clusterNames.Has(clusterRole) || strings.HasPrefix(clusterRole, systemPrefix)
}

// Names translates the names of ClusterRoles and ClusterRoleBindings. They contain that of the root, so that views of a
// namespace and of its descendants have their own.
type Names struct{ prefix string }

// NewNames returns the names of the view of a namespace, by its real name.
func NewNames(root string) Names { return Names{prefix: hnc.ViewRolePrefix(root)} }

// Stored returns the name of the Role or RoleBinding of a ClusterRole or ClusterRoleBinding.
func (n Names) Stored(name string) string { return n.prefix + name }

// Shown returns the name in the view of what a Role or RoleBinding is stored for; ok is false if it is an ordinary one.
func (n Names) Shown(stored string) (name string, ok bool) {
	name, ok = strings.CutPrefix(stored, n.prefix)
	return name, ok && name != ""
}

// shownRole does so for Roles: some names mean other ClusterRoles.
func (n Names) shownRole(stored string) (name string, ok bool) {
	name, ok = n.Shown(stored)
	return name, ok && !reserved(name)
}

// reserved reports whether a ClusterRole of the view cannot have a name.
func reserved(clusterRole string) bool {
	return OfCluster(clusterRole) || strings.HasSuffix(clusterRole, mapping.ExternalSuffix)
}

// roleIn returns the reference of the cluster for one of the view.
func (n Names) roleIn(kind, name string) (string, string) {
	if kind != "ClusterRole" || name == "" || OfCluster(name) {
		return kind, name
	}
	if external, ok := strings.CutSuffix(name, mapping.ExternalSuffix); ok {
		return kind, external
	}
	return "Role", n.Stored(name)
}

// roleOut returns the reference of the view for one of the cluster. It is the inverse of roleIn.
func (n Names) roleOut(kind, name string) (string, string) {
	switch {
	case kind == "Role":
		if shown, ok := n.shownRole(name); ok {
			return "ClusterRole", shown
		}
	case kind == "ClusterRole" && !OfCluster(name):
		return kind, name + mapping.ExternalSuffix
	}
	return kind, name
}

// resource describes a resource in the view.
type resource struct {
	// cluster reports whether it is cluster-scoped in the view, and bindings whether it contains bindings.
	cluster, bindings bool
	// shown is its kind in the view, stored that of the objects in the cluster.
	shown, stored string
	// plural and storedPlural are the names of the resources.
	plural, storedPlural string
}

var resources = map[string]resource{
	ClusterRoles:        {cluster: true, shown: "ClusterRole", stored: "Role", plural: ClusterRoles, storedPlural: roles},
	ClusterRoleBindings: {cluster: true, bindings: true, shown: "ClusterRoleBinding", stored: "RoleBinding", plural: ClusterRoleBindings, storedPlural: roleBindings},
	roles:               {shown: "Role", stored: "Role", plural: roles, storedPlural: roles},
	roleBindings:        {bindings: true, shown: "RoleBinding", stored: "RoleBinding", plural: roleBindings, storedPlural: roleBindings},
}

// shownName returns the name in the view of what an object of the root is stored for; ok is false if it is an ordinary
// one.
func (r resource) shownName(n Names, stored string) (name string, ok bool) {
	if r.bindings {
		return n.Shown(stored)
	}
	return n.shownRole(stored)
}

// Hidden reports whether a resource in the root does not contain an object in the view.
func (n Names) Hidden(resource, stored string) bool {
	_, ok := resources[resource].shownName(n, stored)
	return ok
}

// Text translates the quoted names in a text for people.
func (n Names) Text(text string) string {
	return strings.ReplaceAll(text, `"`+n.prefix, `"`)
}

// Serves reports whether a resource of a view is one of this package.
func Serves(r schema.GroupResource) bool {
	_, ok := resources[r.Resource]
	return ok && r.Group == rbacv1.GroupName
}

// StoredResource returns the resource of the cluster that contains a resource of a view.
func StoredResource(resource string) string { return resources[resource].storedPlural }
