// Package object defines the objects of a repository, with their positions in files.
package object

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Object is one object of a repository. Objects are read-only once loaded: a change of metadata makes a new Object.
type Object struct {
	unstructured.Unstructured
	// Path is the file, relative to the root of the repository.
	Path string
	// Line is where the object begins in the file, counted from 1.
	Line int
	// Lines holds the lines of the fields below metadata, spec excepted, by their dotted path. JSON files have none.
	Lines map[string]int
}

// Dir returns the directory that contains the object.
func (o *Object) Dir() string { return path.Dir(o.Path) }

// TopDir returns the top-level directory that contains the object.
func (o *Object) TopDir() string {
	top, _, _ := strings.Cut(o.Path, "/")
	return top
}

// GroupKind returns the group and kind of the object.
func (o *Object) GroupKind() schema.GroupKind { return o.GroupVersionKind().GroupKind() }

// Is reports whether the object is of a kind, in any version.
func (o *Object) Is(kind schema.GroupKind) bool { return o.GroupKind() == kind }

// Annotation returns the value of an annotation and whether it is set.
func (o *Object) Annotation(key string) (string, bool) {
	value, found, err := unstructured.NestedFieldNoCopy(o.Object, "metadata", "annotations", key)
	if !found || err != nil {
		return "", false
	}
	text, ok := value.(string)
	return text, ok
}

// Source returns the position of the object for a report, at the line of a field if that is known.
func (o *Object) Source(field string) report.Source {
	gvk := o.GroupVersionKind()
	source := report.Source{
		Path: o.Path, Line: o.Line, Namespace: o.GetNamespace(), Name: o.GetName(),
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind,
	}
	if line, ok := o.Lines[field]; ok {
		source.Line = line
	}
	return source
}

// WithNamespace returns the object in a namespace. The two share everything but metadata.
func (o *Object) WithNamespace(namespace string) *Object {
	return o.withMetadata(func(metadata map[string]any) { metadata["namespace"] = namespace })
}

// WithAnnotation returns the object with one more annotation.
func (o *Object) WithAnnotation(key, value string) *Object {
	return o.withMetadata(func(metadata map[string]any) {
		annotations, _ := metadata["annotations"].(map[string]any)
		more := shallow(annotations)
		more[key] = value
		metadata["annotations"] = more
	})
}

func (o *Object) withMetadata(change func(map[string]any)) *Object {
	result := *o
	result.Object = shallow(o.Object)
	metadata, _ := o.Object["metadata"].(map[string]any)
	metadata = shallow(metadata)
	change(metadata)
	result.Object["metadata"] = metadata
	return &result
}

func shallow(m map[string]any) map[string]any {
	result := make(map[string]any, len(m)+1)
	for key, value := range m {
		result[key] = value
	}
	return result
}
