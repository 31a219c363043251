package copies

import (
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Verb is what to do with a copy.
type Verb string

// Verbs. All but Keep and Wait are writes.
const (
	// Create means that there is no object of that name.
	Create Verb = "create"
	// Update means that there is an object, a copy or not, that differs.
	Update Verb = "update"
	// Delete means that there is a copy without a source, or a local RoleBinding that a Role from above invalidates.
	Delete Verb = "delete"
	// Keep writes nothing: a local object stays although a source governs its name, which is worth reporting.
	Keep Verb = "keep"
	// Wait writes nothing: the object terminates, and blocks the copy or stays in effect until its finalizers are
	// removed.
	Wait Verb = "wait"
)

// Write is one write of a copy.
type Write struct {
	Verb      Verb
	Kind      Kind
	Namespace string
	Name      string
	// Source is the object to copy; nil when an object is deleted.
	Source *Object
	// Present is the object in the namespace; nil when a copy is created.
	Present *Object
	// Role is the source of the Role that invalidates a local RoleBinding, which is deleted; nil for all other writes.
	Role *Object
}

// Overwrites reports whether the write replaces or invalidates a local object.
func (w Write) Overwrites() bool { return (w.Verb == Update || w.Verb == Delete) && !w.Present.Copy }

// From returns the namespace that the write comes from: that of the source, of the Role that invalidates a RoleBinding,
// or of the former source of a copy that is deleted.
func (w Write) From() string {
	switch {
	case w.Source != nil:
		return w.Source.Namespace
	case w.Role != nil:
		return w.Role.Namespace
	}
	return w.Present.InheritedFrom
}

// Destination is a namespace that inherits.
type Destination struct {
	Namespace string
	// Ancestors begin with the root and do not include the namespace.
	Ancestors []string
	// Labels returns the present or imminent labels of the namespace or of an ancestor. It is called only where they
	// matter.
	Labels func(namespace string) map[string]string
	// Before is the namespace before a move, for an index without copies: it infers from it which Roles the namespace has
	// inherited. It is nil otherwise.
	Before *Destination
	// Stays is set if the namespace or an ancestor of it is being deleted. It reports whether a namespace exists and is
	// not being deleted.
	Stays func(namespace string) bool

	// roles are the Roles that are in effect, if they are remembered.
	roles map[inNamespace]*Object
}

type inNamespace struct{ namespace, name string }

// permits reports whether the copy of a source, nil for none, may take the place of the present object, nil for none,
// although namespaces are being deleted. What vanishes with its namespace was not withdrawn, so its copies stay, unless
// a namespace above replaces them; all other copies follow their sources, so that nobody keeps a permission by keeping
// a namespace. Nothing is created in a namespace that is being deleted, or from one.
func (d Destination) permits(source, present *Object) bool {
	switch {
	case d.Stays == nil:
		return true
	case present == nil || !present.Copy:
		return source != nil && d.Stays(d.Namespace) && d.Stays(source.Namespace)
	case source != nil && present.Terminating:
		return d.Stays(d.Namespace)
	case !slices.Contains(d.Ancestors, present.InheritedFrom):
		return true // It comes from another tree.
	case source == nil:
		return d.Stays(present.InheritedFrom)
	}
	return d.Stays(present.InheritedFrom) || slices.Index(d.Ancestors, source.Namespace) <= slices.Index(d.Ancestors, present.InheritedFrom)
}

// Propagates reports whether a source is copied to a namespace if no source above it has its name. Nothing else decides
// this. Source: docs/spec/hnc.md 3.8, 3.10 and 3.11.
func (x *Index) Propagates(source *Object, d Destination) bool {
	return x.selects(source, d) && x.bindsSame(source, d)
}

// selects reports whether the source itself, its exceptions and its policy ask for a copy.
func (x *Index) selects(source *Object, d Destination) bool {
	if !source.Fit() {
		return false
	}
	policy := x.policyOf(source.Namespace)
	if !policy.Copies() {
		return false
	}
	var labels map[string]string
	if source.exceptions.Selective() {
		labels = d.Labels(d.Namespace)
	}
	return source.exceptions.Selects(policy.Mode == v1beta1.Propagate, labels)
}

// Governing returns the source of that name that governs a namespace, nil if there is none: that of the topmost
// ancestor, or of the nearest one below it that overrides it. Source: docs/spec/hnc.md 3.7.
func (x *Index) Governing(d Destination, name string) *Object {
	var governing *Object
	for _, ancestor := range d.Ancestors {
		if o := x.Get(ancestor, name); o != nil {
			governing = x.next(governing, o, d)
		}
	}
	return governing
}

// next returns which source governs a namespace: the one so far, which may be nil, or one of its name further down.
func (x *Index) next(governing, o *Object, d Destination) *Object {
	if (governing == nil || o.Overrides(governing)) && x.Propagates(o, d) {
		return o
	}
	return governing
}

// Decide returns what to write for one name in a namespace, nil if nothing.
func (x *Index) Decide(d Destination, name string) *Write {
	return x.decide(x.Governing(d, name), d, name)
}

func (x *Index) decide(source *Object, d Destination, name string) *Write {
	present := x.Get(d.Namespace, name)
	verb := x.verb(source, present, d)
	if verb == "" {
		return nil
	}
	role := x.invalidates(present, d)
	if role != nil {
		source = nil // The object of that name from above comes later.
	}
	return &Write{Verb: verb, Kind: x.Kind, Namespace: d.Namespace, Name: name, Source: source, Present: present, Role: role}
}

// verb returns what to do about the governing source and the present object, both of which may be nil; "" for nothing.
func (x *Index) verb(source, present *Object, d Destination) Verb {
	switch {
	case x.invalidates(present, d) != nil && present.Terminating:
		return Wait
	case x.invalidates(present, d) != nil:
		return Delete
	case source == nil && (present == nil || !present.Copy), !d.permits(source, present):
		return ""
	case present != nil && present.Terminating:
		// It can't be changed any more, and the watch brings its end.
		return Wait
	case source == nil && x.policyOf(present.InheritedFrom).Mode == v1beta1.Ignore:
		return ""
	case source == nil:
		return Delete
	case present == nil:
		return Create
	case present.Copy && present.holds(source.Digest):
		return ""
	case present.Overrides(source):
		return ""
	case !present.Copy && (present.applied || x.policyOf(source.Namespace).Keep):
		// Only the account of a RepositorySync can give an object its label. A copy would lose it, and hns-sync the object.
		return Keep
	}
	return Update
}

// Right reports whether there is nothing to do in a namespace. It is a cheaper form of DecideAll.
func (x *Index) Right(d Destination) bool {
	return !x.any(d, func(v Verb) bool { return v != "" })
}

// Writes reports whether anything has to be written in a namespace: not for objects that are kept, and for those that
// are being deleted.
func (x *Index) Writes(d Destination) bool {
	return x.any(d, func(v Verb) bool { return v != "" && v != Keep && v != Wait })
}

func (x *Index) any(d Destination, counts func(Verb) bool) bool {
	for _, ancestor := range d.Ancestors {
		for o := range x.In(ancestor) {
			if x.Get(d.Namespace, o.Name) == nil && x.Propagates(o, d) && d.permits(x.Governing(d, o.Name), nil) {
				return true
			}
		}
	}
	for o := range x.In(d.Namespace) {
		if counts(x.verb(x.Governing(d, o.Name), o, d)) {
			return true
		}
	}
	return false
}

// DecideAll returns what to write for all names in a namespace, in the order of the names: removals, which have to be
// made first, and writes.
func (x *Index) DecideAll(d Destination) (removals, writes []Write) {
	governing := map[string]*Object{}
	for _, ancestor := range d.Ancestors {
		for o := range x.In(ancestor) {
			if next := x.next(governing[o.Name], o, d); next != nil {
				governing[o.Name] = next
			}
		}
	}
	add := func(source *Object, name string) {
		switch w := x.decide(source, d, name); {
		case w == nil:
		case source == nil || w.Role != nil:
			removals = append(removals, *w)
		default:
			writes = append(writes, *w)
		}
	}
	for name, source := range governing {
		add(source, name)
	}
	for o := range x.In(d.Namespace) {
		if governing[o.Name] == nil {
			add(nil, o.Name)
		}
	}
	byName := func(a, b Write) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(removals, byName)
	slices.SortFunc(writes, byName)
	return removals, writes
}
