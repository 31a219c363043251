package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

var signs = map[Change]string{Added: "+", Removed: "-", Changed: "~", Moved: ">"}

// Text returns a line for each change, and what moved namespaces mean for labels.
func (c *Changes) Text() string {
	var b strings.Builder
	for _, n := range c.Namespaces {
		fmt.Fprintf(&b, "%s namespace %s%s\n", signs[n.Change], n.Name, n.place())
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

func (n *Namespace) place() string {
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

// directory returns the path that abstract ancestors make.
func directory(ancestors []string) string {
	path := slices.Clone(ancestors)
	slices.Reverse(path)
	return strings.Join(append([]string{"namespaces"}, path...), "/")
}
