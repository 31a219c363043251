package hnc

import "k8s.io/apimachinery/pkg/runtime/schema"

// AdminVerb on any of the AdminResources makes an administrator of a namespace, who may change its place in the tree and
// its subtree (docs/spec/hnc.md 2.4.2).
const AdminVerb = "update"

// AdminResources are the names of the resource of hierarchies: ours, and that of HNC.
var AdminResources = []schema.GroupResource{Resource("hierarchies"), Resource("hierarchyconfigurations")}

// Permission is one that discovery of this group does not list: nothing serves its subresource under this name, or its
// verb is not one of Kubernetes' own. docs/reference/roles.md is written from these.
// +k8s:deepcopy-gen=false
type Permission struct {
	// Verbs are those that are checked; each is a permission of its own.
	Verbs []string
	Group string
	// Resource and Subresource are what the verbs are on.
	Resource, Subresource string
	// Effects say what it allows, by where it is granted.
	Effects []PermissionEffect
}

// PermissionEffect is what a permission allows if it is granted in a place.
// +k8s:deepcopy-gen=false
type PermissionEffect struct{ In, Allows string }

var (
	// PermissionPropagation is checked by the server.
	PermissionPropagation = Permission{
		Verbs: []string{"update"}, Group: GroupName, Resource: "hierarchies", Subresource: "propagation",
		Effects: []PermissionEffect{{"the root", "change `spec.propagation` of hierarchies in its tree"}},
	}
	// PermissionAbstract is checked by the server.
	PermissionAbstract = Permission{
		Verbs: []string{"update"}, Group: GroupName, Resource: "hierarchies", Subresource: "abstract",
		Effects: []PermissionEffect{
			{"the whole cluster", "change `spec.abstractAncestors`, and move out of a tree below them"},
			{"a namespace, which need not exist", "create a sub-namespace with the name of an abstract ancestor"},
		},
	}
	// PermissionRestore is checked by the admission policies that protect what follows from the tree.
	PermissionRestore = Permission{
		Verbs: []string{"restore"}, Group: GroupName, Resource: "hierarchies",
		Effects: []PermissionEffect{{"the whole cluster", "create namespaces with the labels and annotations that follow from the tree, as restores do"}},
	}
	// PermissionUse is checked by the admission policy of repositories.
	PermissionUse = Permission{
		Verbs: []string{"use"}, Group: GroupName, Resource: "repositorysyncs",
		Effects: []PermissionEffect{{"the whole cluster, of one object", "write, change and delete objects with the label of that RepositorySync"}},
	}
	// PermissionView is checked by hns-gateway, which serves the subresource.
	PermissionView = Permission{
		Verbs: []string{"create", "delete", "get", "patch", "update"}, Group: ViewGroupVersion.Group, Resource: "tenantviews", Subresource: "proxy",
		Effects: []PermissionEffect{{"the namespace of the view", "send requests to the tenant view, in which your own permissions apply"}},
	}
)

// Permissions returns all of them.
func Permissions() []Permission {
	return []Permission{PermissionPropagation, PermissionAbstract, PermissionRestore, PermissionUse, PermissionView}
}

// Name returns the resource with the subresource, as a role names them.
func (p Permission) Name() string {
	if p.Subresource == "" {
		return p.Resource
	}
	return p.Resource + "/" + p.Subresource
}

// String returns the resource with its group, as messages name it: hierarchies/propagation.hnc.x-k8s.io.
func (p Permission) String() string {
	return p.Name() + "." + p.Group
}
