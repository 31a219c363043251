package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

var signs = map[Change]string{Added: "+", Removed: "-", Changed: "~", Moved: ">"}

// Text returns a line for each change. Lines of moved namespaces list the tree labels that change.
func (c *Changes) Text() string {
	var b strings.Builder
	for _, n := range c.Namespaces {
		fmt.Fprintf(&b, "%s namespace %s%s\n", signs[n.Change], n.Name, n.directories())
	}
	for _, o := range c.Objects {
		name := o.Kind
		if o.Group != "" {
			name += "." + o.Group
		}
		name += "/" + o.Name
		if o.Namespace != "" {
			name = o.Namespace + " " + name
		}
		fmt.Fprintf(&b, "%s %s (%s)\n", signs[o.Change], report.Printable(name), report.Printable(o.Path))
	}
	return b.String()
}

// directories describes the directories of an added, removed or moved namespace.
func (n *Namespace) directories() string {
	switch n.Change {
	case Added:
		return " in " + directory(n.To)
	case Removed:
		return " from " + directory(n.From)
	case Moved:
		text := fmt.Sprintf(" from %s to %s", directory(n.From), directory(n.To))
		if len(n.LostLabels) > 0 {
			text += "; it loses the labels " + strings.Join(n.LostLabels, ", ")
		}
		if len(n.GainedLabels) > 0 {
			text += "; it gains the labels " + strings.Join(n.GainedLabels, ", ")
		}
		return text
	}
	return ""
}

// directory returns the path of abstract ancestors.
func directory(ancestors []string) string {
	path := slices.Clone(ancestors)
	slices.Reverse(path)
	return strings.Join(append([]string{"namespaces"}, path...), "/")
}
