package access

import (
	"iter"
	"slices"
)

// Everywhere stands for all namespaces in a Change.
const Everywhere = ""

// Change is that a subject by itself got or lost the right to get a namespace.
type Change struct {
	Subject   Subject
	Namespace string
	Gained    bool
}

// Index knows all roles and bindings. It is not safe for concurrent use; its owner guards it.
type Index struct {
	changed  func(Change)
	roles    map[Role]*role
	bindings map[Key]*binding
	subjects map[Subject]*subject
}

type role struct {
	Role
	exists   bool
	reach    Reach
	bindings map[*binding]struct{}
}

type binding struct {
	Key
	role     *role
	subjects []*subject
}

// subject counts the bindings by which it may get namespaces.
type subject struct {
	Subject
	everywhere int
	in         map[string]int
	// bindings is how many name it, whatever they allow.
	bindings int
}

// New returns an index of no roles and no bindings, in which only superusers may get namespaces. changed is called with each
// change, while it is made.
func New(changed func(Change)) *Index {
	return &Index{
		changed:  changed,
		roles:    map[Role]*role{},
		bindings: map[Key]*binding{},
		subjects: map[Subject]*subject{superusers: {Subject: superusers, everywhere: 1, bindings: 1}},
	}
}

// Sees says whether one of the subjects may get the namespace.
func (x *Index) Sees(subjects []Subject, namespace string) bool {
	return slices.ContainsFunc(subjects, func(s Subject) bool { return x.Has(s, namespace) || x.Has(s, Everywhere) })
}

// Has says whether a single subject may get the namespace by its name, or all of them if it is Everywhere.
func (x *Index) Has(name Subject, namespace string) bool {
	s := x.subjects[name]
	if namespace == Everywhere {
		return s != nil && s.everywhere > 0
	}
	return s != nil && s.in[namespace] > 0
}

// SeesEverything says whether one of the subjects may get all namespaces.
func (x *Index) SeesEverything(subjects []Subject) bool {
	return slices.ContainsFunc(subjects, func(s Subject) bool { return x.Has(s, Everywhere) })
}

// Seen returns the namespaces that a single subject may get by name, whether or not they exist.
func (x *Index) Seen(name Subject) iter.Seq[string] {
	return func(yield func(string) bool) {
		if s := x.subjects[name]; s != nil {
			for namespace := range s.in {
				if !yield(namespace) {
					return
				}
			}
		}
	}
}

// SetRole records that a role exists, and its reach.
func (x *Index) SetRole(name Role, reach Reach) {
	r := x.role(name)
	r.exists = true
	x.setReach(r, reach)
}

// DeleteRole forgets a role. What binds it allows nothing until there is one of that name again.
func (x *Index) DeleteRole(name Role) {
	if r := x.roles[name]; r != nil && r.exists {
		r.exists = false
		x.setReach(r, Reach{})
		x.forget(r)
	}
}

func (x *Index) setReach(r *role, reach Reach) {
	old := r.reach
	if old.equal(reach) {
		return
	}
	r.reach = reach
	for b := range r.bindings {
		// The new before the old, so that what stays is no change.
		x.count(b, reach, 1)
		x.count(b, old, -1)
	}
}

// SetBinding records a binding, in place of what was known of it.
func (x *Index) SetBinding(said Binding) {
	old := x.bindings[said.Key]
	if old != nil && old.says(said) {
		return
	}
	b := &binding{Key: said.Key, role: x.role(said.Role), subjects: make([]*subject, len(said.Subjects))}
	for i, name := range said.Subjects {
		b.subjects[i] = x.subject(name)
		b.subjects[i].bindings++
	}
	b.role.bindings[b] = struct{}{}
	x.bindings[b.Key] = b
	x.count(b, b.role.reach, 1)
	if old != nil {
		x.remove(old)
	}
}

// DeleteBinding forgets a binding.
func (x *Index) DeleteBinding(key Key) {
	if b := x.bindings[key]; b != nil {
		delete(x.bindings, key)
		x.remove(b)
	}
}

func (x *Index) remove(b *binding) {
	x.count(b, b.role.reach, -1)
	delete(b.role.bindings, b)
	x.forget(b.role)
	for _, s := range b.subjects {
		if s.bindings--; s.bindings == 0 {
			delete(x.subjects, s.Subject)
		}
	}
}

// says tells whether a binding is as it was.
func (b *binding) says(said Binding) bool {
	return b.role.Role == said.Role &&
		slices.EqualFunc(b.subjects, said.Subjects, func(s *subject, name Subject) bool { return s.Subject == name })
}

// count adds what the binding allows, with that reach of its role, as often as by says.
func (x *Index) count(b *binding, reach Reach, by int) {
	if reach.none() {
		return
	}
	for _, s := range b.subjects {
		switch {
		case b.Namespace != "":
			if reach.has(b.Namespace) {
				x.add(s, b.Namespace, by)
			}
		case reach.All:
			x.add(s, Everywhere, by)
		default:
			for _, name := range reach.Names {
				x.add(s, name, by)
			}
		}
	}
}

func (x *Index) add(s *subject, namespace string, by int) {
	var before, after int
	if namespace == Everywhere {
		before = s.everywhere
		s.everywhere += by
		after = s.everywhere
	} else {
		before = s.in[namespace]
		if after = before + by; after == 0 {
			delete(s.in, namespace)
		} else {
			if s.in == nil {
				s.in = map[string]int{}
			}
			s.in[namespace] = after
		}
	}
	if (before > 0) != (after > 0) {
		x.changed(Change{Subject: s.Subject, Namespace: namespace, Gained: after > 0})
	}
}

func (x *Index) role(name Role) *role {
	r := x.roles[name]
	if r == nil {
		r = &role{Role: name, bindings: map[*binding]struct{}{}}
		x.roles[name] = r
	}
	return r
}

func (x *Index) forget(r *role) {
	if !r.exists && len(r.bindings) == 0 {
		delete(x.roles, r.Role)
	}
}

func (x *Index) subject(name Subject) *subject {
	s := x.subjects[name]
	if s == nil {
		s = &subject{Subject: name}
		x.subjects[name] = s
	}
	return s
}
