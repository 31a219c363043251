package object

import "k8s.io/apimachinery/pkg/runtime/schema"

const hncGroup = "hnc.x-k8s.io"

// hncKinds maps HNC's names of kinds to those of v1beta1. Each object of one is an object of the other, too.
var hncKinds = map[schema.GroupKind]schema.GroupKind{
	{Group: hncGroup, Kind: "HierarchyConfiguration"}: {Group: hncGroup, Kind: "Hierarchy"},
	{Group: hncGroup, Kind: "SubnamespaceAnchor"}:     {Group: hncGroup, Kind: "Subnamespace"},
}

// Canonical returns the kind by which objects are identified: the same for both names of a kind that has two.
func Canonical(kind schema.GroupKind) schema.GroupKind {
	if canonical, ok := hncKinds[kind]; ok {
		return canonical
	}
	return kind
}

// Alias returns the other name of a canonical kind, which is all that a cluster with HNC serves, and whether it has
// one.
func Alias(kind schema.GroupKind) (alias schema.GroupKind, ok bool) {
	for alias, canonical := range hncKinds {
		if canonical == kind {
			return alias, true
		}
	}
	return kind, false
}
