package desired

import (
	"cmp"
	"iter"
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
		ancestor, _ := hnc.TreeLabelAncestor(key)
		path = append(path, ancestor)
	}
	for ancestor := range abstractAbove(t, name) {
		path = append(path, ancestor)
	}
	return strings.Join(path, ".")
}

// AbstractAncestors returns the value of the annotation that names the abstract ancestors among the tree labels of a
// namespace: "" if it has none.
func AbstractAncestors(t *tree.Tree, name string) string {
	var names []string
	for ancestor := range abstractAbove(t, name) {
		names = append(names, ancestor)
	}
	return hnc.JoinAbstractAncestors(names)
}

// abstractAbove returns the abstract ancestors above the root of a namespace with their distances, the nearest first. A
// namespace of the same name is nearer: its label stays, and the abstract ancestor is left out.
func abstractAbove(t *tree.Tree, name string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if t.Excluded(name) {
			return
		}
		path := reach(t, name)
		for i, ancestor := range t.AbstractAncestors(path[len(path)-1]) {
			if !slices.Contains(path, ancestor) && !yield(ancestor, len(path)+i) {
				return
			}
		}
	}
}
