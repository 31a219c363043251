package mapping

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// Groups translates the groups of the custom resources that a view has for itself. In the cluster, the group
// example.com of the view has a suffix that no other view has.
type Groups struct {
	// Suffix returns that of the view, without the dot before it; "" means that the view has no groups for itself.
	Suffix func() string
	// Known reports whether the cluster has a group.
	Known func(group string) bool
	// Refresh makes Known answer what is true now, unless it has done so lately. Nil means that it always does.
	Refresh func()
}

// builtIn reports whether a group is one of Kubernetes, which a view cannot have for itself.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// own returns the group in the cluster of a group that the view has for itself; ok is false for all others.
func (g *Groups) own(group string) (realGroup string, ok bool) {
	suffix := g.Suffix()
	if suffix == "" {
		return "", false
	}
	realGroup = group + "." + suffix
	return realGroup, g.Known(realGroup)
}

// In returns the group in the cluster of a group in the view. One that the cluster serves under the same name has a
// suffix there, too, while the view has its own.
func (g *Groups) In(group string) string {
	if g == nil || builtIn(group) {
		return group
	}
	realGroup, ok := g.own(group)
	if !ok && realGroup != "" && g.Refresh != nil && !g.Known(group) {
		g.Refresh()
		_, ok = g.own(group)
	}
	if ok {
		return realGroup
	}
	return strings.TrimSuffix(group, ExternalSuffix)
}

// Out returns the group in the view of any group of the cluster. In is the inverse.
func (g *Groups) Out(group string) string {
	if g == nil || builtIn(group) {
		return group
	}
	if suffix := g.Suffix(); suffix != "" {
		if shown, ok := strings.CutSuffix(group, "."+suffix); ok && g.Known(group) {
			return shown
		}
	}
	if _, own := g.own(group); own || strings.HasSuffix(group, ExternalSuffix) {
		return group + ExternalSuffix
	}
	return group
}

// text returns a text for people with the names of the view.
func (g *Groups) text(s string) string {
	if g == nil || g.Suffix() == "" {
		return s
	}
	return strings.ReplaceAll(s, "."+g.Suffix(), "")
}

func (t *translation) group(s string) string {
	if t.to == Out {
		return t.groups.Out(s)
	}
	return t.groups.In(s)
}

// apiVersion translates the group in a group and version.
func (t *translation) apiVersion(s string) string {
	group, version, ok := strings.Cut(s, "/")
	if !ok {
		return s
	}
	return t.group(group) + "/" + version
}

// Group returns the group in the cluster of a group in the view.
func (m *Mapper) Group(group string) string {
	if !m.names.relative {
		return group
	}
	return m.groups.In(group)
}

// GroupOut returns the group in the view of a group in the cluster.
func (m *Mapper) GroupOut(group string) string {
	if !m.names.relative {
		return group
	}
	return m.groups.Out(group)
}

var (
	groupNode      = &node{text: (*translation).group}
	groupsNode     = &node{items: groupNode}
	apiVersionNode = &node{text: (*translation).apiVersion}
	// headNode is what precedes the items of a list.
	headNode = &node{fields: map[string]*node{"apiVersion": apiVersionNode}}
)

// Definition is the kind of the CustomResourceDefinitions of a view, which are stored as ViewDefinitions.
var Definition = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

var storedDefinition = v1alpha3.SchemeGroupVersion.WithKind("ViewDefinition")

// definitionNames are the names of both kinds where objects, lists and errors have them.
var definitionNames = [][2]string{
	{Definition.GroupVersion().String(), storedDefinition.GroupVersion().String()},
	{Definition.Kind, storedDefinition.Kind},
	{Definition.Kind + "List", storedDefinition.Kind + "List"},
	{Definition.Group, storedDefinition.Group},
	{"customresourcedefinitions", "viewdefinitions"},
}

// definitionName translates the name of a kind, of its list, its resource, its group or its version.
func (t *translation) definitionName(s string) string {
	for _, names := range definitionNames {
		from, to := names[0], names[1]
		if t.to == Out {
			from, to = to, from
		}
		if s == from {
			return to
		}
	}
	return s
}

// definitionText translates the names in a message of the API server.
func definitionText(s string) string {
	return strings.NewReplacer(
		"viewdefinitions.hnc.x-k8s.io", "customresourcedefinitions.apiextensions.k8s.io",
		"ViewDefinition.hnc.x-k8s.io", "CustomResourceDefinition.apiextensions.k8s.io",
		`"viewdefinitions" in API group "hnc.x-k8s.io"`, `"customresourcedefinitions" in API group "apiextensions.k8s.io"`,
	).Replace(s)
}

var (
	definitionNameNode = &node{text: (*translation).definitionName}
	definitionHeadNode = &node{fields: map[string]*node{"apiVersion": definitionNameNode, "kind": definitionNameNode}}
	definitionNode     = newDefinitionNode()
)

// newDefinitionNode returns the rules for a CustomResourceDefinition, which is cluster-scoped in the view.
func newDefinitionNode() *node {
	root := &node{fields: map[string]*node{"apiVersion": definitionNameNode, "kind": definitionNameNode}}
	fields := metadata(Definition.GroupKind(), root)
	fields["name"], fields["namespace"] = &node{}, &node{absent: true} // A view compares the group in the name.
	entry := *fields["managedFields"].items
	entry.fields = map[string]*node{"fieldsV1": entry.fields["fieldsV1"], "apiVersion": definitionNameNode}
	fields["managedFields"] = &node{items: &entry}
	root.fields["metadata"] = &node{fields: fields}
	return root
}
