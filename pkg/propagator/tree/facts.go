package tree

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"

// HasSubnamespaces says whether a sub-namespace is, or is about to be created, directly below the namespace. An annotation without
// a Subnamespace does not count: otherwise the owner of any namespace could protect this one from deletion.
func (t *Tree) HasSubnamespaces(name string) bool {
	for child, s := range t.records[name] {
		if t.Excluded(child) || t.Subnamespace(s.Key) == nil {
			continue
		}
		if ns := t.namespaces[child]; (ns == nil && !s.Terminating) || (ns != nil && ns.SubnamespaceOf == name && t.Parent(child) == name) {
			return true
		}
	}
	return false
}

// Orphaned says whether the namespace is a sub-namespace that no Subnamespace stands for.
func (t *Tree) Orphaned(name string) bool {
	ns := t.namespaces[name]
	return ns != nil && ns.SubnamespaceOf != "" && t.Subnamespace(Key{Parent: ns.SubnamespaceOf, Name: name}) == nil
}

// CascadingAllowed says whether the namespace or an ancestor allows cascading deletion: by its Hierarchy, or by the label that told
// so when it began to terminate, for its Hierarchy may be gone by now. Members of a cycle have no ancestors, and what is
// beyond one is not asked.
func (t *Tree) CascadingAllowed(name string) bool {
	chain := t.forest.Chain(name)
	cyclic := t.forest.Parent(chain[len(chain)-1]) != ""
	for _, at := range chain {
		if h := t.Hierarchy(at); h != nil && h.Cascading {
			return true
		}
		if ns := t.namespaces[at]; ns != nil && ns.Terminating && ns.Labels[hnc.LabelCascadingDeletion] == hnc.CascadingAllowed {
			return true
		}
		if cyclic && t.forest.Cycle(at) != nil {
			return false
		}
	}
	return false
}

// Frozen says whether nothing may be written or removed in the namespace on behalf of its ancestors: it can never take
// part, or activities are halted at or above it, or an ancestor terminates. The latter's objects vanish because
// their namespace does and not because somebody has withdrawn them; a survivor keeps what it has until it gets a place
// in a tree again (spec/hnc.md 3.6). A namespace that its labels exclude has no ancestors: what it has inherited goes.
func (t *Tree) Frozen(name string) bool {
	if ns := t.namespaces[name]; ns == nil || ns.Terminating || t.NameExcluded(name) {
		return true
	}
	if at, _ := t.forest.HaltedAt(name); at != "" {
		return true
	}
	for _, at := range t.forest.Chain(name)[1:] {
		if ns := t.namespaces[at]; ns == nil || ns.Terminating {
			return true
		}
	}
	return false
}

// parentFor returns the effective parent of the namespace from the records: the parent that its Hierarchy names, or
// else the one whose Subnamespace asks for it. An existing namespace belongs to a Subnamespace only if its own annotation
// says so: nobody can capture a namespace by asking for its name. An external namespace has no parent.
func (t *Tree) parentFor(name string) string {
	if t.Excluded(name) {
		return ""
	}
	if ns := t.namespaces[name]; ns != nil {
		if ns.ManagedBy != "" {
			return ""
		}
		if h := t.Hierarchy(name); h != nil && h.Parent != "" {
			return h.Parent
		}
		if ns.SubnamespaceOf == "" {
			return t.bornBelow(ns)
		}
		if ns.SubnamespaceOf != "" && t.Subnamespace(Key{Parent: ns.SubnamespaceOf, Name: name}) != nil {
			return ns.SubnamespaceOf
		}
		return ""
	}
	var first *Subnamespace
	for _, key := range t.Asking(name) {
		s := t.Subnamespace(key)
		if s == nil || s.Terminating || !t.Active(key.Parent) {
			continue
		}
		if first == nil || s.Created.Before(&first.Created) {
			first = s
		}
	}
	if first == nil {
		return ""
	}
	return first.Parent
}
