package copies

import (
	"iter"
	"slices"
)

// A RoleBinding that refers to a Role means another one in each namespace: the Role of that name there, whoever has
// written it. So it is copied only to where that Role is the one of its own namespace. Otherwise a user could bind a
// Role that has few permissions, and get those of a local Role in a descendant.

// BindsRole returns the name of the Role that a source refers to, "" if it is no RoleBinding or refers to a
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
	there := x.Roles.effectiveRole(d.ancestor(source.Namespace), source.role)
	return there != nil && x.Roles.effectiveRole(d, source.role) == there
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
	return Destination{Namespace: namespace, Ancestors: d.Ancestors[:slices.Index(d.Ancestors, namespace)], Labels: d.Labels, roles: d.roles}
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

// Bindings returns the sources in a namespace that refer to a Role, or to any if it is "".
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
				if !yield(c.byName[name]) {
					return
				}
			}
		}
	}
}

// countRole records that a source refers to a Role, or that it does not any more.
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
