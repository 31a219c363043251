package rbacindex

import (
	"iter"
	"slices"
)

// AllNamespaces stands for all namespaces in a Change.
const AllNamespaces = ""

// Change reports that subjects of a binding gained or lost the permission to get a namespace.
type Change struct {
	Subjects  []Subject
	Namespace string
	Gained    bool
}

// Index holds all roles and bindings. It is not safe for concurrent use.
type Index struct {
	changed  func(Change)
	roles    map[Role]*role
	bindings map[BindingKey]*binding
	subjects map[Subject]*subject
}

type role struct {
	Role
	exists   bool
	grant    Grant
	bindings map[*binding]struct{}
}

type binding struct {
	BindingKey
	role     *role
	subjects []*subject
}

// subject counts the bindings by which it is allowed to get namespaces.
type subject struct {
	Subject
	allNamespaces int
	in            map[string]int
	// bindings counts all bindings of the subject, including those that allow nothing.
	bindings int
}

// New returns an empty index, in which only system:masters is allowed to get namespaces. changed is called
// synchronously with each change.
func New(changed func(Change)) *Index {
	return &Index{
		changed:  changed,
		roles:    map[Role]*role{},
		bindings: map[BindingKey]*binding{},
		subjects: map[Subject]*subject{superuserGroup: {Subject: superuserGroup, allNamespaces: 1, bindings: 1}},
	}
}

// Allows reports whether one of the subjects is allowed to get the namespace.
func (x *Index) Allows(subjects []Subject, namespace string) bool {
	return slices.ContainsFunc(subjects, func(s Subject) bool { return x.SubjectAllows(s, namespace) || x.SubjectAllows(s, AllNamespaces) })
}

// SubjectAllows reports whether one subject is allowed to get the namespace by name, or all namespaces for
// AllNamespaces.
func (x *Index) SubjectAllows(name Subject, namespace string) bool {
	s := x.subjects[name]
	if namespace == AllNamespaces {
		return s != nil && s.allNamespaces > 0
	}
	return s != nil && s.in[namespace] > 0
}

// AllowsAll reports whether one of the subjects is allowed to get all namespaces.
func (x *Index) AllowsAll(subjects []Subject) bool {
	return slices.ContainsFunc(subjects, func(s Subject) bool { return x.SubjectAllows(s, AllNamespaces) })
}

// Namespaces returns the namespaces that one subject is allowed to get by name, whether or not they exist.
func (x *Index) Namespaces(name Subject) iter.Seq[string] {
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

// SetRole adds or updates a role.
func (x *Index) SetRole(name Role, reach Grant) {
	r := x.role(name)
	r.exists = true
	x.setGrant(r, reach)
}

// DeleteRole removes a role. Its bindings allow nothing until the role exists again.
func (x *Index) DeleteRole(name Role) {
	if r := x.roles[name]; r != nil && r.exists {
		r.exists = false
		x.setGrant(r, Grant{})
		x.forget(r)
	}
}

func (x *Index) setGrant(r *role, reach Grant) {
	old := r.grant
	if old.equal(reach) {
		return
	}
	r.grant = reach
	for b := range r.bindings {
		// Add the new grant before removing the old one, so that the intersection is not reported as a change.
		x.count(b, reach, 1)
		x.count(b, old, -1)
	}
}

// SetBinding adds or updates a binding.
func (x *Index) SetBinding(said Binding) {
	old := x.bindings[said.BindingKey]
	if old != nil && old.equal(said) {
		return
	}
	b := &binding{BindingKey: said.BindingKey, role: x.role(said.Role), subjects: make([]*subject, len(said.Subjects))}
	for i, name := range said.Subjects {
		b.subjects[i] = x.subject(name)
		b.subjects[i].bindings++
	}
	b.role.bindings[b] = struct{}{}
	x.bindings[b.BindingKey] = b
	x.count(b, b.role.grant, 1)
	if old != nil {
		x.remove(old)
	}
}

// DeleteBinding removes a binding.
func (x *Index) DeleteBinding(key BindingKey) {
	if b := x.bindings[key]; b != nil {
		delete(x.bindings, key)
		x.remove(b)
	}
}

func (x *Index) remove(b *binding) {
	x.count(b, b.role.grant, -1)
	delete(b.role.bindings, b)
	x.forget(b.role)
	for _, s := range b.subjects {
		if s.bindings--; s.bindings == 0 {
			delete(x.subjects, s.Subject)
		}
	}
}

// equal reports whether a binding is unchanged.
func (b *binding) equal(said Binding) bool {
	return b.role.Role == said.Role &&
		slices.EqualFunc(b.subjects, said.Subjects, func(s *subject, name Subject) bool { return s.Subject == name })
}

// count adds delta to the counts of everything that the binding allows with that grant of its role.
func (x *Index) count(b *binding, reach Grant, delta int) {
	switch {
	case b.Namespace != "":
		if reach.allows(b.Namespace) {
			x.add(b, b.Namespace, delta)
		}
	case reach.All:
		x.add(b, AllNamespaces, delta)
	default:
		for _, name := range reach.Names {
			x.add(b, name, delta)
		}
	}
}

// add adds delta to the counts of one namespace, and reports one change for all subjects.
func (x *Index) add(b *binding, namespace string, delta int) {
	var changed []Subject
	for _, s := range b.subjects {
		if s.add(namespace, delta) {
			changed = append(changed, s.Subject)
		}
	}
	if len(changed) > 0 {
		x.changed(Change{Subjects: changed, Namespace: namespace, Gained: delta > 0})
	}
}

// add reports whether the permission is gained or lost.
func (s *subject) add(namespace string, delta int) bool {
	var before, after int
	if namespace == AllNamespaces {
		before = s.allNamespaces
		s.allNamespaces += delta
		after = s.allNamespaces
	} else {
		before = s.in[namespace]
		if after = before + delta; after == 0 {
			delete(s.in, namespace)
		} else {
			if s.in == nil {
				s.in = map[string]int{}
			}
			s.in[namespace] = after
		}
	}
	return (before > 0) != (after > 0)
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
