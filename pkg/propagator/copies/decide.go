package copies

import (
	"slices"
	"strings"
)

// Verb is what is done to a copy.
type Verb string

const (
	// Create says that there is no object of that name.
	Create Verb = "create"
	// Update says that there is one, a copy or not, that is not as it should be.
	Update Verb = "update"
	// Delete says that there is a copy for which there is no source.
	Delete Verb = "delete"
)

// Write is one write that makes a copy right.
type Write struct {
	Verb      Verb
	Kind      Kind
	Namespace string
	Name      string
	// Source is what is copied; nil when a copy is deleted.
	Source *Object
	// Present is the object in the namespace; nil when a copy is created.
	Present *Object
}

// Overwrites says whether the write replaces a local object.
func (w Write) Overwrites() bool { return w.Verb == Update && !w.Present.Copy }

// Propagates says whether a source is copied to a namespace. This is the one place that decides it; the namespace does not
// matter yet.
func Propagates(source *Object, _ string) bool { return !source.Finalized }

// Governing returns the source of that name that governs a namespace, nil if there is none: the one of the topmost ancestor.
// The ancestors, the root first, don't include the namespace. Source: spec/hnc.md 3.7.
func (x *Index) Governing(ancestors []string, namespace, name string) *Object {
	for _, ancestor := range ancestors {
		if o := x.Get(ancestor, name); o != nil && !o.Copy && Propagates(o, namespace) {
			return o
		}
	}
	return nil
}

// Decide returns what to write for one name in a namespace that may be written in, nil if nothing.
func (x *Index) Decide(ancestors []string, namespace, name string) *Write {
	return x.decide(x.Governing(ancestors, namespace, name), namespace, name)
}

func (x *Index) decide(source *Object, namespace, name string) *Write {
	present := x.Get(namespace, name)
	w := &Write{Kind: x.Kind, Namespace: namespace, Name: name, Source: source, Present: present}
	switch {
	case present != nil && present.Terminating:
		// It can't be changed any more, and its end will be seen.
		return nil
	case source == nil && (present == nil || !present.Copy):
		return nil
	case source == nil:
		w.Verb = Delete
	case present == nil:
		w.Verb = Create
	case present.Copy && present.holds(source.Digest):
		return nil
	default:
		w.Verb = Update
	}
	return w
}

// DecideAll returns what to write for all names in a namespace that may be written in, in the order of the names:
// what is removed, which has to be done first, and what is written.
func (x *Index) DecideAll(ancestors []string, namespace string) (removals, writes []Write) {
	governing := map[string]*Object{}
	for _, ancestor := range ancestors {
		for o := range x.In(ancestor) {
			if !o.Copy && governing[o.Name] == nil && Propagates(o, namespace) {
				governing[o.Name] = o
			}
		}
	}
	for name, source := range governing {
		if w := x.decide(source, namespace, name); w != nil {
			writes = append(writes, *w)
		}
	}
	for o := range x.In(namespace) {
		if governing[o.Name] == nil {
			if w := x.decide(nil, namespace, o.Name); w != nil {
				removals = append(removals, *w)
			}
		}
	}
	byName := func(a, b Write) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(removals, byName)
	slices.SortFunc(writes, byName)
	return removals, writes
}
