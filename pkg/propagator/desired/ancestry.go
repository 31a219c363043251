package desired

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Ancestry returns the value of the annotation that shows the path to the root: the names of its tree labels, by their distance, joined by
// dots, which no name contains. It is "" for a namespace without tree labels.
func Ancestry(t *tree.Tree, name string) string {
	if t.Excluded(name) {
		return ""
	}
	path := slices.Clone(reach(t, name))
	foreign := t.ForeignTrees(path[len(path)-1])
	distance := func(key string) int {
		depth, _ := strconv.Atoi(foreign[key])
		return depth
	}
	for _, key := range slices.SortedFunc(maps.Keys(foreign), func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(a, b))
	}) {
		ancestor, _ := hnc.TreeLabelAncestor(key)
		path = append(path, ancestor)
	}
	return strings.Join(path, ".")
}
