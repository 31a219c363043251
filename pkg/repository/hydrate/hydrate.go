// Package hydrate prints the objects of a compiled repository. Source: docs/spec/config-sync.md 8.
package hydrate

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// Objects returns copies of the objects for printing, in the same order: without the metadata that only the repository
// uses, or, if it is kept, with the tree labels of namespaces as well.
func Objects(result *repository.Result, keepMetadata bool) []*unstructured.Unstructured {
	treeLabels := map[string]map[string]string{}
	for _, namespace := range result.Namespaces {
		treeLabels[namespace.Name] = namespace.TreeLabels
	}
	objects := make([]*unstructured.Unstructured, 0, len(result.Objects))
	for _, o := range result.Objects {
		printed := o.DeepCopy()
		switch {
		case !keepMetadata:
			strip(printed)
		case o.Is(object.Namespace):
			addLabels(printed, treeLabels[o.GetName()])
		}
		objects = append(objects, printed)
	}
	return objects
}

// Object returns a copy of an object without the metadata that only the repository uses.
func Object(o *object.Object) *unstructured.Unstructured {
	printed := o.DeepCopy()
	strip(printed)
	return printed
}

// strip removes labels and annotations that only the repository uses.
func strip(o *unstructured.Unstructured) {
	o.SetLabels(without(o.GetLabels()))
	o.SetAnnotations(without(o.GetAnnotations()))
}

// without returns the entries without a reserved prefix, nil if there are none.
func without(entries map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range entries {
		if !object.IsReserved(key) || key == object.AnnotationManaged {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func addLabels(o *unstructured.Unstructured, more map[string]string) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	for key, value := range more {
		labels[key] = value
	}
	o.SetLabels(labels)
}

// fileName returns the name of an object's file, without its extension.
func fileName(o *unstructured.Unstructured, withGroup bool) string {
	gvk := o.GroupVersionKind()
	name := gvk.Kind
	if withGroup {
		name += "." + gvk.Group
	}
	name += "_" + o.GetName()
	if namespace := o.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return strings.ToLower(name)
}

// fileNames returns a file name for each object. Colliding names get the group, and if they still collide, because RBAC
// names differ in case only, a number.
func fileNames(objects []*unstructured.Unstructured) []string {
	count := map[string]int{}
	for _, o := range objects {
		count[fileName(o, false)]++
	}
	names := make([]string, 0, len(objects))
	var unused Unused
	for _, o := range objects {
		names = append(names, unused.Name(fileName(o, count[fileName(o, false)] > 1)))
	}
	return names
}

// Unused gives out names that differ. The zero value is ready to use.
type Unused struct {
	// next has the number that the next object of a name gets: looking for it from the first one on would take quadratic
	// time.
	next map[string]int
}

// Name returns a name that has not been returned before: the given one, or else one with a number.
func (u *Unused) Name(name string) string {
	if u.next == nil {
		u.next = map[string]int{}
	}
	base := name
	for u.next[name] > 0 {
		u.next[base]++
		name = numbered(base, u.next[base])
	}
	u.next[name] = 1
	return name
}
