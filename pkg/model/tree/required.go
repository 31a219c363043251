package tree

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
)

// requests adds to the records which Subnamespaces exist or are required, by the names of their namespaces.
type requests struct {
	records
	// byName holds the parents that have or require a Subnamespace of a name.
	byName map[string]sets.Set[string]
	// refused holds why a required Subnamespace could not be created.
	refused map[Key]string
}

// RequestsFor returns the keys of the existing and the required Subnamespaces of that name, in the order of their
// parents' names.
func (r *requests) RequestsFor(name string) []Key {
	keys := make([]Key, 0, len(r.byName[name]))
	for _, parent := range sets.List(r.byName[name]) {
		keys = append(keys, Key{Parent: parent, Name: name})
	}
	return keys
}

// Requires reports whether the parent's Hierarchy requires the Subnamespace.
func (r *requests) Requires(key Key) bool {
	h := r.Hierarchy(key.Parent)
	return h != nil && slices.Contains(h.Required, key.Name)
}

// Missing returns the keys of the required Subnamespaces of a namespace that do not exist, in the order of its
// Hierarchy.
func (r *requests) Missing(parent string) []Key {
	h := r.Hierarchy(parent)
	if h == nil {
		return nil
	}
	var keys []Key
	for _, name := range h.Required {
		if r.subnamespaces[parent][name] == nil {
			keys = append(keys, Key{Parent: parent, Name: name})
		}
	}
	return keys
}

// Refused returns why the latest attempt to create a required Subnamespace was rejected, "" if it was not.
func (r *requests) Refused(key Key) string { return r.refused[key] }

// updateRequest records whether the Subnamespace exists or is required.
func (r *requests) updateRequest(key Key) {
	h := r.hierarchies[key.Parent]
	required, exists := h != nil && slices.Contains(h.Required, key.Name), r.subnamespaces[key.Parent][key.Name] != nil
	if !required || exists {
		delete(r.refused, key)
	}
	if required || exists {
		insert(r.byName, key.Name, key.Parent)
	} else {
		remove(r.byName, key.Name, key.Parent)
	}
}

// requirementsChanged records which children a Hierarchy newly requires or no longer requires, and returns their keys.
func (r *requests) requirementsChanged(parent string, old, h *Hierarchy) []Key {
	var before, after []string
	if old != nil {
		before = old.Required
	}
	if h != nil {
		after = h.Required
	}
	var keys []Key
	for _, name := range slices.Concat(before, after) {
		if slices.Contains(before, name) != slices.Contains(after, name) {
			key := Key{Parent: parent, Name: name}
			r.updateRequest(key)
			keys = append(keys, key)
		}
	}
	return keys
}

// SetRefused records why a Subnamespace could not be created that is still required and missing.
func (t *Tree) SetRefused(key Key, why string) Affected {
	if t.refused[key] == why || t.subnamespaces[key.Parent][key.Name] != nil || !t.Requires(key) {
		return Affected{}
	}
	t.refused[key] = why
	return Affected{Changed: []string{key.Parent}}
}

func insert(index map[string]sets.Set[string], key, value string) {
	if index[key] == nil {
		index[key] = sets.New[string]()
	}
	index[key].Insert(value)
}

func remove(index map[string]sets.Set[string], key, value string) {
	index[key].Delete(value)
	if len(index[key]) == 0 {
		delete(index, key)
	}
}
