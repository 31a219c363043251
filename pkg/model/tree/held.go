package tree

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// objects are objects by namespace: their resources and the keys of their names.
type objects map[string]map[string]struct{}

// set adds or removes an object, and reports whether that is new.
func (o objects) set(namespace, resource, name string, member bool) bool {
	object := resource + " " + names.Key(name)
	in := o[namespace]
	if _, known := in[object]; known == member {
		return false
	}
	if !member {
		if delete(in, object); len(in) == 0 {
			delete(o, namespace)
		}
		return true
	}
	if in == nil {
		in = map[string]struct{}{}
		o[namespace] = in
	}
	in[object] = struct{}{}
	return true
}

// in returns the first objects in a namespace, with their resources, and how many there are.
func (o objects) in(namespace string, most int) (first []string, number int) {
	for _, object := range names.First(maps.Keys(o[namespace]), most) {
		resource, name, _ := strings.Cut(object, " ")
		first = append(first, fmt.Sprintf("%s %q", resource, names.Shorten(name)))
	}
	return first, len(o[namespace])
}

// SetHeld records whether an object is a deleted copy that finalizers keep. It reports whether that is new.
func (t *Tree) SetHeld(namespace, resource, name string, held bool) bool {
	return t.held.set(namespace, resource, name, held)
}

// Held returns the first deleted copies in the namespace that finalizers keep, in order, and how many there are.
func (t *Tree) Held(namespace string, most int) (first []string, number int) {
	return t.held.in(namespace, most)
}

// SetUncopied records whether an object is a source that has no copies because of its name. It reports whether that is
// new.
func (t *Tree) SetUncopied(namespace, resource, name string, uncopied bool) bool {
	return t.uncopied.set(namespace, resource, name, uncopied)
}

// SetUnreported records whether an object has no status because of its name. It reports whether that is new.
func (t *Tree) SetUnreported(namespace, resource, name string, unreported bool) bool {
	return t.unreported.set(namespace, resource, name, unreported)
}

// Unreported returns the first of these objects in the namespace, in order, and how many there are.
func (t *Tree) Unreported(namespace string, most int) (first []string, number int) {
	return t.unreported.in(namespace, most)
}

// Uncopied returns the first of these sources in the namespace, in order, and how many there are; none if nothing is
// below it.
func (t *Tree) Uncopied(namespace string, most int) (first []string, number int) {
	if !t.HasChildren(namespace) {
		return nil, 0
	}
	return t.uncopied.in(namespace, most)
}
