package copies

import (
	"iter"
	"slices"
)

// A RoleBinding that refers to a Role means another one in each namespace: the Role of that name there, whoever has
// written it. So it is copied only to where that Role is the one of its own namespace. Otherwise a user could bind a
// Role that has few permissions, and get those of a local Role in a descendant.
//
// The reverse holds, too. kube-apiserver has authorized a RoleBinding by the Role that the name meant at that time. When
// the name gets another one from above, local RoleBindings that refer to it are overwritten with it: they are deleted
// first. Otherwise a user could bind a name in advance, and get the permissions that a Role from above has later.

// BindsRole returns the name of the Role that an object refers to, "" if it is no RoleBinding or refers to a
// ClusterRole.
func (o *Object) BindsRole() string {
	if o == nil {
		return ""
	}
	return o.role
}

// SameRole reports whether a Role is as good as another one for what RoleBindings that refer to it are copied to: its
// rules do not matter.
func (o *Object) SameRole(old *Object) bool {
	if o == nil || old == nil {
		return o == old
	}
	return o.Copy == old.Copy && o.InheritedFrom == old.InheritedFrom && o.Terminating == old.Terminating && o.Fit() == old.Fit() &&
		(o.Copy || o.annotations == old.annotations)
}

// Effective returns the source of what a namespace has under a name once all copies are written: the source of its
// copy, or its local object; nil if it has nothing.
func (x *Index) Effective(d Destination, name string) *Object {
	governing, present := x.Governing(d, name), x.Get(d.Namespace, name)
	if present == nil || present.Copy {
		return governing
	}
	// A local Role that is being deleted is in effect as long as a finalizer keeps it.
	if verb := x.verb(governing, present, d); verb == "" || verb == Keep || verb == Wait {
		return present
	}
	return governing
}

// bindsSame reports whether the Role that a source refers to, if any, is in the namespace the one that the namespace of
// the source has.
func (x *Index) bindsSame(source *Object, d Destination) bool {
	if source.role == "" {
		return true
	}
	if x.Roles == nil {
		return false
	}
	at := d.ancestor(source.Namespace)
	there := x.Roles.effectiveRole(at, source.role)
	return there != nil && x.Roles.effectiveRole(d, source.role) == there && x.Roles.arrives(at, source.role) == nil
}

// arrives returns the source of the Role that is about to give a name another meaning in a namespace, nil if none is.
func (x *Index) arrives(d Destination, name string) *Object {
	source, present := x.effectiveRole(d, name), x.Get(d.Namespace, name)
	switch {
	case source == nil, source.Namespace == d.Namespace, !d.permits(source, present), source.Namespace == x.inherits(d, name, present):
		return nil
	case present != nil && present.Terminating:
		return nil // It arrives when that one is gone.
	}
	return source
}

// inherits returns the namespace that a Role's name is inherited from, given the present Role.
func (x *Index) inherits(d Destination, name string, present *Object) string {
	switch {
	case present != nil:
		return present.origin()
	case d.Before != nil:
		if before := x.Governing(*d.Before, name); before != nil {
			return before.Namespace
		}
	}
	return ""
}

// invalidates returns the source of the Role that invalidates an object, nil if it is no local RoleBinding or stays
// valid.
func (x *Index) invalidates(present *Object, d Destination) *Object {
	if present.BindsRole() == "" || present.Copy || x.Roles == nil {
		return nil
	}
	return x.Roles.arrives(d, present.role)
}

// Bound returns the RoleBindings that a Role has to wait for: those that refer to its name in the namespace of the
// write, and are removed or replaced. It returns none for a Role that the namespace inherits already.
func (x *Index) Bound(w Write, d Destination) iter.Seq[Write] {
	return func(yield func(Write) bool) {
		c := x.objects[w.Namespace]
		if c == nil || !w.Arrives() {
			return
		}
		for name := range c.byRole[w.Name] {
			if bound := x.Decide(d, name); bound != nil && !yield(*bound) {
				return
			}
		}
	}
}

// Arrives reports whether the write gives the name of a Role another meaning in its namespace.
func (w Write) Arrives() bool {
	return w.Kind == Roles && (w.Verb == Create || (w.Verb == Update && w.Present.origin() != w.Source.Namespace))
}

// effectiveRole is Effective for a Role. Many bindings may refer to it.
func (x *Index) effectiveRole(d Destination, name string) *Object {
	key := inNamespace{d.Namespace, name}
	o, known := d.roles[key]
	if !known {
		o = x.Effective(d, name)
		if d.roles != nil {
			d.roles[key] = o
		}
	}
	return o
}

// ancestor describes an ancestor of the namespace.
func (d Destination) ancestor(namespace string) Destination {
	at := Destination{Namespace: namespace, Ancestors: d.Ancestors[:slices.Index(d.Ancestors, namespace)], Labels: d.Labels, roles: d.roles}
	if d.Before == nil {
		return at
	}
	before := at // It does not move.
	if i := slices.Index(d.Before.Ancestors, namespace); i >= 0 {
		before.Ancestors, before.Labels = d.Before.Ancestors[:i], d.Before.Labels
	}
	at.Before = &before
	return at
}

// Remember returns the destination, which then calls Labels at most once for each namespace, and finds the Role that is
// in effect once for each name. It is not safe for concurrent use, and valid only while objects stay the same.
func (d Destination) Remember() Destination {
	labels, known := d.Labels, map[string]map[string]string{}
	d.roles = map[inNamespace]*Object{}
	d.Labels = func(namespace string) map[string]string {
		if _, ok := known[namespace]; !ok {
			known[namespace] = labels(namespace)
		}
		return known[namespace]
	}
	return d
}

// Withheld reports whether a source is not copied to a namespace only because of the Role that it refers to.
func (x *Index) Withheld(source *Object, d Destination) bool {
	return source.BindsRole() != "" && x.selects(source, d) && !x.bindsSame(source, d)
}

// Awaits reports whether a copy must not be written yet, because the Role that it refers to is not in the namespace of
// its source, or its copy is not yet in the namespace of the write: a local Role may be in the place of either.
func (x *Index) Awaits(w Write) bool {
	if w.Source.BindsRole() == "" {
		return false
	}
	there, here := x.Roles.Get(w.Source.Namespace, w.Source.role), x.Roles.Get(w.Namespace, w.Source.role)
	return there == nil || here == nil || !here.Copy || here.InheritedFrom != there.origin()
}

// origin returns the namespace of an object's source, which may be the object itself.
func (o *Object) origin() string {
	if o.Copy {
		return o.InheritedFrom
	}
	return o.Namespace
}

// Bindings returns the local RoleBindings in a namespace that refer to a Role, or to any if it is "".
func (x *Index) Bindings(namespace, role string) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		c := x.objects[namespace]
		if c == nil {
			return
		}
		byRole := c.byRole
		if role != "" {
			byRole = map[string]map[string]struct{}{role: c.byRole[role]}
		}
		for _, names := range byRole {
			for name := range names {
				if o := c.byName[name]; !o.Copy && !yield(o) {
					return
				}
			}
		}
	}
}

// countRole records that a RoleBinding refers to a Role, or that it does not any more.
func (c *contents) countRole(o *Object, refers bool) {
	if o.role == "" {
		return
	}
	names := c.byRole[o.role]
	switch {
	case !refers && len(names) == 1:
		delete(c.byRole, o.role)
	case !refers:
		delete(names, o.Name)
	case names == nil:
		if c.byRole == nil {
			c.byRole = map[string]map[string]struct{}{}
		}
		c.byRole[o.role] = map[string]struct{}{o.Name: {}}
	default:
		names[o.Name] = struct{}{}
	}
}
