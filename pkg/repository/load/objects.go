package load

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// add appends the objects of a document: none, one, or the items of a list. node has their positions, if known.
func (l *loader) add(name string, value any, node *yaml.Node) {
	if value == nil {
		return
	}
	fields, ok := value.(map[string]any)
	if !ok {
		l.fail(report.MissingIdentity, at(name, node), "a document must be an object with apiVersion, kind and metadata.name")
		return
	}
	if items, ok := listItems(fields); ok {
		nodes := itemNodes(node)
		for i, item := range items {
			if l.exhausted() {
				return
			}
			var itemNode *yaml.Node
			if len(nodes) == len(items) {
				itemNode = content(nodes[i])
			}
			l.add(name, item, itemNode)
		}
		return
	}
	o := &object.Object{Unstructured: unstructured.Unstructured{Object: fields}, Path: name}
	if node != nil {
		o.Line = node.Line
		o.Lines = metadataLines(node)
	}
	if err := shape(o); err != nil {
		l.errors = append(l.errors, err)
		return
	}
	if local, ok := o.Annotation(object.AnnotationLocalConfig); ok && local != "false" {
		return
	}
	if err := identity(o); err != nil {
		l.errors = append(l.errors, err)
		return
	}
	if err := serverFields(o); err != nil {
		l.errors = append(l.errors, err)
		return
	}
	if l.objects = append(l.objects, o); len(l.objects) > l.limits.Objects {
		l.fail(report.LimitExceeded, name, "the repository contains more than %d objects", l.limits.Objects)
	}
}

func at(name string, node *yaml.Node) string {
	if node == nil {
		return name
	}
	return report.Position(name, node.Line)
}

// listItems returns the items of a list of objects.
func listItems(fields map[string]any) ([]any, bool) {
	kind, _ := fields["kind"].(string)
	items, ok := fields["items"].([]any)
	return items, ok && strings.HasSuffix(kind, "List")
}

func itemNodes(list *yaml.Node) []*yaml.Node {
	if items := field(list, "items"); items != nil && items.Kind == yaml.SequenceNode {
		return items.Content
	}
	return nil
}

// field returns the value of a key.
func field(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return content(n.Content[i+1])
		}
	}
	return nil
}

// metadataLines returns the lines of the fields of metadata, and of labels and annotations.
func metadataLines(n *yaml.Node) map[string]int {
	lines := map[string]int{}
	var record func(prefix string, n *yaml.Node, deeper []string)
	record = func(prefix string, n *yaml.Node, deeper []string) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			lines[prefix+key.Value] = key.Line
			if slices.Contains(deeper, key.Value) {
				record(prefix+key.Value+".", content(n.Content[i+1]), nil)
			}
		}
	}
	record("metadata.", field(n, "metadata"), []string{"labels", "annotations"})
	return lines
}

// shape checks the types of the fields of metadata.
func shape(o *object.Object) *report.Error {
	metadata, ok := o.Object["metadata"]
	if !ok || metadata == nil {
		return nil
	}
	fields, ok := metadata.(map[string]any)
	if !ok {
		return problem(o, report.Unparsable, "metadata", "metadata must be an object")
	}
	for _, key := range []string{"name", "namespace"} {
		if value, ok := fields[key]; ok && value != nil {
			if _, ok := value.(string); !ok {
				return problem(o, report.Unparsable, "metadata."+key, "metadata.%s must be a string; put it in quotes", key)
			}
		}
	}
	for _, key := range []string{"labels", "annotations"} {
		value, ok := fields[key]
		if !ok || value == nil {
			continue
		}
		entries, ok := value.(map[string]any)
		if !ok {
			return problem(o, report.Unparsable, "metadata."+key, "metadata.%s must be an object", key)
		}
		var bad []string
		for name, value := range entries {
			if _, ok := value.(string); !ok {
				bad = append(bad, name)
			}
		}
		if len(bad) > 0 {
			slices.Sort(bad)
			return problem(o, report.InvalidMetadataValue, "metadata."+key+"."+bad[0],
				"values of metadata.%s must be strings; put the values of these keys in quotes: %s", key, strings.Join(bad, ", "))
		}
	}
	return nil
}

// identity checks that the object has a kind and a name.
func identity(o *object.Object) *report.Error {
	var missing []string
	for _, field := range []struct{ name, value string }{
		{"apiVersion", o.GetAPIVersion()}, {"kind", o.GetKind()}, {"metadata.name", o.GetName()},
	} {
		if field.value == "" {
			missing = append(missing, field.name)
		}
	}
	if len(missing) > 0 {
		return problem(o, report.MissingIdentity, "", "an object must set %s", strings.Join(missing, ", "))
	}
	return validKind(o)
}

// validKind checks the syntax of the group, version and kind: they become parts of paths and of requests.
func validKind(o *object.Object) *report.Error {
	version, err := schema.ParseGroupVersion(o.GetAPIVersion())
	if err != nil || len(validation.IsDNS1035Label(version.Version)) > 0 || version.Group != "" && len(validation.IsDNS1123Subdomain(version.Group)) > 0 {
		return problem(o, report.Unparsable, "", "apiVersion: %q is not <group>/<version>", o.GetAPIVersion())
	}
	if len(validation.IsDNS1035Label(strings.ToLower(o.GetKind()))) > 0 {
		return problem(o, report.Unparsable, "", "kind: %q is not the name of a kind", o.GetKind())
	}
	return nil
}

func problem(o *object.Object, code report.Code, field, format string, args ...any) *report.Error {
	return &report.Error{Code: code, Message: fmt.Sprintf(format, args...), Sources: []report.Source{o.Source(field)}}
}
