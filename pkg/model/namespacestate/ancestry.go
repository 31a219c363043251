package namespacestate

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// Ancestry returns the value of the annotation that shows the path to the root: the names of its tree labels, by their
// distance, joined by dots, which no name contains. It is "" for a namespace without tree labels.
func Ancestry(t *tree.Tree, name string) string {
	if t.Excluded(name) {
		return ""
	}
	path := slices.Clone(reach(t, name))
	foreign := t.ForeignTrees(path[len(path)-1])
	for _, key := range slices.SortedFunc(maps.Keys(foreign), func(a, b string) int {
		return cmp.Or(cmp.Compare(foreign[a], foreign[b]), cmp.Compare(a, b))
	}) {
		if ancestor, _ := hnc.TreeLabelAncestor(key); !slices.Contains(path, ancestor) {
			path = append(path, ancestor)
		}
	}
	return strings.Join(append(path, abstractAbove(t, name)...), ".")
}

// AbstractAncestors returns the value of the annotation that names the abstract ancestors among the tree labels of a
// namespace: "" if it has none.
func AbstractAncestors(t *tree.Tree, name string) string {
	return hnc.JoinAbstractAncestors(abstractAbove(t, name))
}

// abstractAbove returns the abstract ancestors above the root of a namespace, the nearest first. A namespace of the same
// name is nearer: its label stays, and the abstract ancestor is left out.
func abstractAbove(t *tree.Tree, name string) []string {
	if t.Excluded(name) {
		return nil
	}
	path := reach(t, name)
	return slices.DeleteFunc(slices.Clone(t.AbstractAncestors(path[len(path)-1])), func(ancestor string) bool { return slices.Contains(path, ancestor) })
}
