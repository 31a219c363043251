package tree

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// facts adds to the lineage what follows about single namespaces.
type facts struct {
	lineage
	// converted holds the UIDs of Subnamespaces whose namespaces were seen to become full ones.
	converted map[Key]types.UID
	// abstract holds, by abstract ancestor, the namespaces whose Hierarchies name it.
	abstract map[string]sets.Set[string]
	// annotated holds, by parent, the namespaces whose annotations name it as that of a sub-namespace.
	annotated map[string]sets.Set[string]
}

// HasSubnamespaces reports whether a sub-namespace, detached or not, is, or is about to be created, directly below the
// namespace. An annotation alone has no effect: otherwise the owner of any namespace could protect this one from
// deletion.
func (f *facts) HasSubnamespaces(name string) bool {
	for child, s := range f.subnamespaces[name] {
		if f.Excluded(child) || f.Subnamespace(s.Key) == nil {
			continue
		}
		if ns := f.namespaces[child]; (ns == nil && !s.Terminating) || (ns != nil && ns.SubnamespaceOf == name && f.Parent(child) == name) {
			return true
		}
	}
	return len(f.Detached(name)) > 0
}

// IsDetached reports whether an active sub-namespace has no Subnamespace that keeps it, or keeps it any longer: its
// annotation and its Hierarchy name the parent. It is deleted along with the parent as all sub-namespaces are. That
// takes no other permission than to create the Subnamespace again, and to delete it.
func (f *facts) IsDetached(key Key) bool {
	ns, h, s := f.namespaces[key.Name], f.Hierarchy(key.Name), f.Subnamespace(key)
	return ns != nil && !ns.Terminating && ns.SubnamespaceOf == key.Parent && (s == nil || !s.Held()) &&
		h != nil && h.Parent == key.Parent && f.Parent(key.Name) == key.Parent
}

// Detached returns the keys of the detached sub-namespaces of a namespace, in order.
func (f *facts) Detached(parent string) []Key {
	var keys []Key
	for _, name := range sets.List(f.annotated[parent]) {
		if key := (Key{Parent: parent, Name: name}); f.IsDetached(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Claims returns how many Subnamespaces in the namespace hold the claim on their name, whether their namespaces exist
// yet or not, and how many other children it has, whatever made them its children.
func (f *facts) Claims(name string) int {
	n := 0
	claimed := func(child string) bool {
		return !f.Excluded(child) && f.Subnamespace(Key{Parent: name, Name: child}) != nil && f.Parent(child) == name
	}
	for child := range f.subnamespaces[name] {
		if claimed(child) {
			n++
		}
	}
	for _, child := range f.forest.Children(name) {
		if ns := f.namespaces[child]; ns != nil && !ns.Terminating && !claimed(child) {
			n++
		}
	}
	return n
}

// Orphaned reports whether the namespace is a sub-namespace without a Subnamespace.
func (f *facts) Orphaned(name string) bool {
	ns := f.namespaces[name]
	return ns != nil && ns.SubnamespaceOf != "" && f.Subnamespace(Key{Parent: ns.SubnamespaceOf, Name: name}) == nil
}

// LimitsPending reports whether the namespace was created as a sub-namespace, and the limits above are not known to be
// in force in it: nobody gets permissions there, whatever becomes of its Subnamespace.
func (f *facts) LimitsPending(name string) bool {
	ns := f.namespaces[name]
	return ns != nil && ns.LimitsPending != ""
}

// CascadingAllowed reports whether the namespace or an ancestor allows cascading deletion. Members of a cycle have no
// ancestors, and what is beyond a cycle is not consulted.
func (f *facts) CascadingAllowed(name string) bool {
	chain := f.forest.Chain(name)
	cyclic := f.forest.Parent(chain[len(chain)-1]) != ""
	for i, at := range chain {
		parentGone := i+1 < len(chain) && f.namespaces[chain[i+1]] == nil
		if f.namespaces[at].AllowsCascading(f.hierarchies[at], parentGone) {
			return true
		}
		if cyclic && f.forest.Cycle(at) != nil {
			return false
		}
	}
	return false
}

// AllowsCascading reports whether the namespace allows cascading deletion, in it and below: by its effective Hierarchy,
// or by the label that it had when it began to terminate, if that Hierarchy or the parent is gone by now. The label may
// be late, so it is ignored while both exist. The namespace and the Hierarchy are nil if they do not exist; a root's
// parent is not gone.
func (n *Namespace) AllowsCascading(h *Hierarchy, parentGone bool) bool {
	if h.effectiveIn(n) {
		return h.Cascading || (parentGone && n.RecordsCascading())
	}
	return n != nil && n.RecordsCascading()
}

// RecordsCascading reports whether a terminating namespace has the label that says that cascading deletion was allowed.
func (n *Namespace) RecordsCascading() bool {
	return n.Terminating && n.Labels[hnc.LabelCascadingDeletion] == hnc.CascadingAllowed
}

// Frozen reports whether nothing may be granted in the namespace on behalf of its ancestors: activities are halted
// there, or it goes.
func (f *facts) Frozen(name string) bool { return f.Halted(name) || f.Goes(name) }

// Halted reports whether nothing may be written or removed in the namespace on behalf of its ancestors: it does not
// exist, can never be part of a hierarchy, or activities are halted at or above it. A namespace that is excluded by its
// labels has no ancestors: its copies are removed.
func (f *facts) Halted(name string) bool {
	if f.namespaces[name] == nil || f.NameExcluded(name) {
		return true
	}
	at, _ := f.forest.HaltedAt(name)
	return at != ""
}

// Goes reports whether the namespace or an ancestor of it terminates. The objects of a terminating ancestor vanish with
// their namespace and were not withdrawn; a surviving descendant keeps their copies until it is part of a tree again
// (docs/spec/hnc.md 3.6). Users may keep a namespace terminating for as long as they like, so what is withdrawn in the
// ancestors that stay is withdrawn nevertheless.
func (f *facts) Goes(name string) bool {
	return slices.ContainsFunc(f.forest.Chain(name), func(at string) bool {
		ns := f.namespaces[at]
		return ns != nil && ns.Terminating
	})
}

// ParentWith returns the effective parent of the namespace from the records, with the given Hierarchy, nil for none, in
// place of its own: the parent that the Hierarchy names, or else the one that has a Subnamespace for it. No annotation
// takes a namespace away from the parent in its Hierarchy, which was authorized. An existing namespace belongs to a
// Subnamespace only if its own annotation says so: no user can capture a namespace by creating a Subnamespace of its
// name. Any other external namespace has no parent. Kubernetes deletes the records of a terminating namespace before the
// namespace, which does not take it and its descendants out of the tree: its labels, which only the propagator writes,
// name the parent.
func (f *facts) ParentWith(name string, h *Hierarchy) string {
	if f.Excluded(name) {
		return ""
	}
	if ns := f.namespaces[name]; ns != nil {
		effective := h.effectiveIn(ns)
		switch {
		case effective && h.Parent != "":
			return h.Parent
		case ns.ManagedBy != "", effective && len(h.Abstract) > 0:
			// No annotation takes the namespace out of the policies that select by abstract ancestors.
			return ""
		case ns.SubnamespaceOf != "" && f.Subnamespace(Key{Parent: ns.SubnamespaceOf, Name: name}) != nil:
			return ns.SubnamespaceOf
		case ns.Terminating && !effective:
			return ns.LabeledParent()
		}
		return f.bornBelow(ns)
	}
	var first *Subnamespace
	for _, key := range f.RequestsFor(name) {
		s := f.Subnamespace(key)
		if s == nil || s.Terminating || !f.Active(key.Parent) {
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
