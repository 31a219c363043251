package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var signs = map[Change]string{Added: "+", Removed: "-", Changed: "~", Moved: ">"}

// Text returns a line for each change. Lines of moved namespaces list the tree labels that change.
func (c *Changes) Text() string {
	var b strings.Builder
	for _, n := range c.Namespaces {
		b.WriteString(names.Line("%s namespace %s%s%s", signs[n.Change], n.Name, n.directories(), fieldList(n.Fields)))
	}
	for _, o := range c.Objects {
		name := report.ObjectName(schema.GroupKind{Group: o.Group, Kind: o.Kind}, o.Namespace, o.Name)
		if o.Path != "" {
			name += " (" + o.Path + ")"
		}
		b.WriteString(names.Line("%s %s%s", signs[o.Change], name, fieldList(o.Fields)))
	}
	return b.String()
}

// maxFields is how many fields a line lists.
const maxFields = 5

// fieldList returns the fields that change, for the end of a line.
func fieldList(fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	return ": " + names.List(fields, maxFields, ", ")
}

// directories describes the directories of an added, removed or moved namespace.
func (n *Namespace) directories() string {
	switch n.Change {
	case Added:
		return " in " + directory(n.To)
	case Removed:
		if n.From == nil && n.LostLabels == nil {
			return ""
		}
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
