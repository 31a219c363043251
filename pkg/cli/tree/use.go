package tree

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// WriteUse writes a table of the namespaces below root that use something, with their ancestors up to root. Namespaces
// that are not below root, because they have moved since their use was counted, follow at the end.
func (t *Tree) WriteUse(w io.Writer, root string, used map[string]string) error {
	part := New()
	part.AddNamespace(root, false, false)
	var elsewhere []string
	for _, name := range slices.Sorted(maps.Keys(used)) {
		path := t.path(name, root)
		if path == nil {
			elsewhere = append(elsewhere, name)
		}
		for _, n := range path {
			part.AddNamespace(n.Name, n.Subnamespace, n.Deleting)
			part.AddHierarchy(n.Name, n.Parent, nil)
		}
	}
	part.Link()
	out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	row := func(name, used string) {
		_, _ = io.WriteString(out, names.Row(name, used))
	}
	row("NAMESPACE", "USED")
	var b branches
	part.Walk(root, func(v Visit) bool {
		row(b.before(v)+v.Name, cmp.Or(used[v.Name], "-"))
		return true
	})
	for _, name := range elsewhere {
		row(name, used[name])
	}
	return out.Flush()
}

// path returns the namespaces from name up to root, without root; nil if name is not below root.
func (t *Tree) path(name, root string) []*Node {
	path := []*Node{}
	for name != root {
		n := t.Get(name)
		if n == nil || slices.Contains(path, n) {
			return nil
		}
		path = append(path, n)
		name = n.Parent
	}
	return path
}
