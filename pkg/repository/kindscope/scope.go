// Package kindscope finds out whether kinds are namespaced.
package kindscope

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// Lookup finds the scope of a kind.
type Lookup interface {
	// Namespaced reports whether a kind is namespaced. ok is false for unknown kinds.
	Namespaced(kind schema.GroupKind) (namespaced, ok bool)
}

// Table is a Lookup that holds for each kind whether it is namespaced.
type Table map[schema.GroupKind]bool

// Namespaced implements Lookup.
func (t Table) Namespaced(kind schema.GroupKind) (namespaced, ok bool) {
	namespaced, ok = t[kind]
	return namespaced, ok
}

// Chain is a Lookup that tries others in order. Its elements may be nil.
type Chain []Lookup

// Namespaced implements Lookup.
func (c Chain) Namespaced(kind schema.GroupKind) (namespaced, ok bool) {
	for _, next := range c {
		if next == nil {
			continue
		}
		if namespaced, ok = next.Namespaced(kind); ok {
			return namespaced, true
		}
	}
	return false, false
}

// BuiltIn returns the kinds of Kubernetes, of repositories and of this project.
func BuiltIn() Lookup { return Chain{kubernetes, ours} }

var ours = Table{
	object.Repo:              false,
	object.HierarchyConfig:   false,
	object.NamespaceSelector: false,
	object.ClusterSelector:   false,
	object.Cluster:           false,
	object.Sync:              false,

	{Group: object.ConfigSyncGroup, Kind: "RootSync"}: true,
	{Group: object.ConfigSyncGroup, Kind: "RepoSync"}: true,

	{Group: "hnc.x-k8s.io", Kind: "Hierarchy"}:                 true,
	{Group: "hnc.x-k8s.io", Kind: "HierarchyConfiguration"}:    true,
	{Group: "hnc.x-k8s.io", Kind: "Subnamespace"}:              true,
	{Group: "hnc.x-k8s.io", Kind: "SubnamespaceAnchor"}:        true,
	{Group: "hnc.x-k8s.io", Kind: "HierarchicalResourceQuota"}: true,
	{Group: "hnc.x-k8s.io", Kind: "HNCConfiguration"}:          false,
	{Group: "hnc.x-k8s.io", Kind: "RepositorySync"}:            false,
	{Group: "hnc.x-k8s.io", Kind: "CopyRelease"}:               true,

	// Kinds that older versions of Kubernetes serve.
	{Group: "policy", Kind: "PodSecurityPolicy"}: false,
}
