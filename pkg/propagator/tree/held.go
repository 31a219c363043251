package tree

import (
	"maps"
	"slices"
)

// objects are objects, named with their kind, by namespace.
type objects map[string]map[string]struct{}

// set adds or removes an object, and reports whether that is new.
func (o objects) set(namespace, object string, member bool) bool {
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

func (o objects) in(namespace string) []string { return slices.Sorted(maps.Keys(o[namespace])) }

// SetHeld records whether an object, named with its kind, is a deleted copy that finalizers keep. It reports whether
// that is new.
func (t *Tree) SetHeld(namespace, object string, held bool) bool {
	return t.held.set(namespace, object, held)
}

// Held returns the deleted copies in the namespace that finalizers keep, in order.
func (t *Tree) Held(namespace string) []string { return t.held.in(namespace) }

// SetUncopied records whether an object, named with its kind, is a source that has no copies because of its name. It
// reports whether that is new.
func (t *Tree) SetUncopied(namespace, object string, uncopied bool) bool {
	return t.uncopied.set(namespace, object, uncopied)
}

// SetUnreported records whether an object, named with its kind, has no status because of its name. It reports whether
// that is new.
func (t *Tree) SetUnreported(namespace, object string, unreported bool) bool {
	return t.unreported.set(namespace, object, unreported)
}

// Unreported returns these objects in the namespace, in order.
func (t *Tree) Unreported(namespace string) []string { return t.unreported.in(namespace) }

// Uncopied returns these sources in the namespace, in order; none if nothing is below it.
func (t *Tree) Uncopied(namespace string) []string {
	if !t.HasChildren(namespace) {
		return nil
	}
	return t.uncopied.in(namespace)
}
