package tree

import "slices"

// Requires says whether the parent's Hierarchy requires the Subnamespace.
func (t *Tree) Requires(key Key) bool {
	h := t.Hierarchy(key.Parent)
	return h != nil && slices.Contains(h.Required, key.Name)
}

// Missing returns the keys of the Subnamespaces that the namespace's Hierarchy requires and that do not exist, in its order.
func (t *Tree) Missing(parent string) []Key {
	h := t.Hierarchy(parent)
	if h == nil {
		return nil
	}
	var keys []Key
	for _, name := range h.Required {
		if t.records[parent][name] == nil {
			keys = append(keys, Key{Parent: parent, Name: name})
		}
	}
	return keys
}

// Refused returns why a required Subnamespace could not be created when that was tried last, "" if it was not refused.
func (t *Tree) Refused(key Key) string { return t.refused[key] }

// SetRefused records why a Subnamespace could not be created that is still required and missing.
func (t *Tree) SetRefused(key Key, why string) Affected {
	if t.refused[key] == why || t.records[key.Parent][key.Name] != nil || !t.Requires(key) {
		return Affected{}
	}
	t.refused[key] = why
	return Affected{Changed: []string{key.Parent}}
}

// asks enters whether there is, or is required to be, a Subnamespace that asks for a namespace.
func (t *Tree) asks(key Key) {
	h := t.hierarchies[key.Parent]
	required, exists := h != nil && slices.Contains(h.Required, key.Name), t.records[key.Parent][key.Name] != nil
	if !required || exists {
		delete(t.refused, key)
	}
	if required || exists {
		insert(t.askers, key.Name, key.Parent)
	} else {
		remove(t.askers, key.Name, key.Parent)
	}
}

// requirementsChanged enters what a Hierarchy requires that did not before, and the reverse, and returns the keys of these.
func (t *Tree) requirementsChanged(parent string, old, h *Hierarchy) []Key {
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
			t.asks(key)
			keys = append(keys, key)
		}
	}
	return keys
}
