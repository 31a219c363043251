package tree

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Affected is what a change affects. Names may repeat.
type Affected struct {
	// Moved are namespaces whose chain of ancestors may have changed, or whether they are halted: everything that the
	// propagator writes in them may be different now.
	Moved []string
	// Changed are namespaces whose own labels or whose Hierarchy's status may be different now.
	Changed []string
	// Subnamespaces are Subnamespaces that may have to be acted on.
	Subnamespaces []Key
	// Propagation reports that some Hierarchy specifies other kinds.
	Propagation bool
}

// descendantsChanged adds to what is affected what depends on whether a namespace terminates, or allows cascading
// deletion: what is created on behalf of its descendants, and which of them may be deleted.
func (t *Tree) descendantsChanged(affected *Affected, name string) {
	descendants := t.forest.Descendants(name)
	affected.Changed = append(affected.Changed, descendants...)
	for _, at := range append(descendants, name) {
		affected.Subnamespaces = append(affected.Subnamespaces, t.claimsOn(at)...)
		for child := range t.subnamespaces[at] {
			affected.Subnamespaces = append(affected.Subnamespaces, Key{Parent: at, Name: child})
		}
	}
}

// requestsChanged adds the Subnamespaces of a name, and the namespaces that have or require them, to what is affected.
func (t *Tree) requestsChanged(affected *Affected, name string) {
	for _, key := range t.claimsOn(name) {
		affected.Subnamespaces = append(affected.Subnamespaces, key)
		affected.Changed = append(affected.Changed, key.Parent)
	}
	// It counts its sub-namespaces, also those without a Subnamespace.
	if parent := t.Parent(name); parent != "" {
		affected.Changed = append(affected.Changed, parent)
	}
}

// claimsOn returns the keys of the existing and the required Subnamespaces of that name, and of the one that the
// namespace's annotation names.
func (t *Tree) claimsOn(name string) []Key {
	keys := t.RequestsFor(name)
	if ns := t.namespaces[name]; ns != nil && ns.SubnamespaceOf != "" && !t.byName[name].Has(ns.SubnamespaceOf) {
		keys = append(keys, Key{Parent: ns.SubnamespaceOf, Name: name})
	}
	return keys
}

// request is what Subnamespaces of a namespace's name depend on.
type request struct {
	uid, creatorPending, limitsPending  types.UID
	subnamespaceOf, managedBy, excluded string
	terminating                         bool
}

func (n *Namespace) request() request {
	return request{
		uid: n.UID, creatorPending: n.CreatorPending, limitsPending: n.LimitsPending, subnamespaceOf: n.SubnamespaceOf, managedBy: n.ManagedBy,
		excluded: n.excluded, terminating: n.Terminating,
	}
}

// requestChanged reports whether Subnamespaces of a namespace's name may have to be acted on when its record changes;
// old or ns is nil if there was or is none.
func (t *Tree) requestChanged(old, ns *Namespace) bool {
	return old == nil || ns == nil || old.request() != ns.request() || slices.ContainsFunc(t.RequestsFor(ns.Name), func(key Key) bool {
		return old.isLabeledChild(key.Parent) != ns.isLabeledChild(key.Parent)
	})
}
