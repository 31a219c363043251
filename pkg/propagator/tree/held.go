package tree

import (
	"maps"
	"slices"
)

// SetHeld records whether an object, named with its kind, is a deleted copy that finalizers keep. It reports whether that is new.
func (t *Tree) SetHeld(namespace, object string, held bool) bool {
	objects := t.held[namespace]
	if _, known := objects[object]; known == held {
		return false
	}
	if !held {
		if delete(objects, object); len(objects) == 0 {
			delete(t.held, namespace)
		}
		return true
	}
	if objects == nil {
		objects = map[string]struct{}{}
		t.held[namespace] = objects
	}
	objects[object] = struct{}{}
	return true
}

// Held returns the deleted copies in the namespace that finalizers keep, in order.
func (t *Tree) Held(namespace string) []string {
	return slices.Sorted(maps.Keys(t.held[namespace]))
}
