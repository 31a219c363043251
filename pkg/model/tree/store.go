package tree

import (
	"iter"
	"maps"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// records are the objects of a cluster, as the watches bring them.
type records struct {
	rules       managedkeys.Rules
	namespaces  map[string]*Namespace
	hierarchies map[string]*Hierarchy
	// subnamespaces are by parent and name.
	subnamespaces ByNamespace[*Subnamespace]
}

// Excluded reports whether the namespace can't be part of a hierarchy, by its name or by its labels. A missing
// namespace has no labels.
func (r *records) Excluded(name string) bool { return r.WhyExcluded(name) != "" }

// WhyExcluded returns why the namespace can't be part of a hierarchy, "" if it can.
func (r *records) WhyExcluded(name string) string {
	if ns := r.namespaces[name]; ns != nil {
		return ns.excluded
	}
	return r.rules.Excluded(name, nil)
}

// NameExcluded reports whether no namespace of that name can ever be part of a hierarchy. The result never changes, so
// no lock is necessary.
func (r *records) NameExcluded(name string) bool { return r.rules.NameExcluded(name) != "" }

// Namespace returns the namespace, nil if it does not exist.
func (r *records) Namespace(name string) *Namespace { return r.namespaces[name] }

// Active reports whether the propagator may write in the namespace: it exists, is not excluded and does not terminate.
func (r *records) Active(name string) bool {
	ns := r.namespaces[name]
	return ns != nil && !ns.Terminating && !r.Excluded(name)
}

// HierarchyRecord returns the Hierarchy of the namespace, effective or not, nil if there is none.
func (r *records) HierarchyRecord(name string) *Hierarchy { return r.hierarchies[name] }

// Hierarchy returns the effective Hierarchy of the namespace, nil if there is none. One that is bound to another
// incarnation of the namespace has no effect.
func (r *records) Hierarchy(name string) *Hierarchy {
	if h := r.hierarchies[name]; h.effectiveIn(r.namespaces[name]) {
		return h
	}
	return nil
}

// effectiveIn reports whether both exist, and the Hierarchy is not bound to another incarnation of the namespace.
func (h *Hierarchy) effectiveIn(ns *Namespace) bool {
	return h != nil && ns != nil && (h.Owner == "" || h.Owner == ns.UID)
}

// SubnamespaceRecord returns the Subnamespace, effective or not, nil if there is none.
func (r *records) SubnamespaceRecord(key Key) *Subnamespace {
	return r.subnamespaces[key.Parent][key.Name]
}

// Subnamespace returns the effective Subnamespace, nil if there is none. One that is void, or bound to another
// incarnation of its parent, has no effect.
func (r *records) Subnamespace(key Key) *Subnamespace {
	s := r.subnamespaces[key.Parent][key.Name]
	if s == nil || s.Void {
		return nil
	}
	if ns := r.namespaces[key.Parent]; ns != nil && s.Owner != "" && s.Owner != ns.UID {
		return nil
	}
	return s
}

// Names returns the names of the namespaces that exist, in no order.
func (r *records) Names() []string { return slices.Collect(maps.Keys(r.namespaces)) }

// Namespaces returns the namespaces that exist, in no order.
func (r *records) Namespaces() iter.Seq[*Namespace] { return maps.Values(r.namespaces) }

// Hierarchies returns all Hierarchies, in no order.
func (r *records) Hierarchies() iter.Seq[*Hierarchy] { return maps.Values(r.hierarchies) }

// Subnamespaces returns all Subnamespaces, in no order.
func (r *records) Subnamespaces() iter.Seq[*Subnamespace] { return r.subnamespaces.All() }

// SubnamespaceKeys returns the keys of all Subnamespaces, in no order.
func (r *records) SubnamespaceKeys() []Key {
	var keys []Key
	for s := range r.subnamespaces.All() {
		keys = append(keys, s.Key)
	}
	return keys
}

// Len returns how many namespaces exist.
func (r *records) Len() int { return len(r.namespaces) }

// Keys returns which labels and annotations of namespaces are managed.
func (r *records) Keys() managedkeys.Keys { return r.rules.Keys }

// External reports whether another system manages the namespace: it is a root, and keeps its labels and annotations.
// The annotation that says so has no effect on a namespace whose Hierarchy names a parent.
func (r *records) External(name string) bool {
	ns, h := r.namespaces[name], r.Hierarchy(name)
	return ns != nil && ns.ManagedBy != "" && (h == nil || h.Parent == "")
}

// complete evaluates the rules for a namespace once, and drops annotations that are not managed.
func (r *records) complete(ns *Namespace) {
	ns.excluded = r.rules.Excluded(ns.Name, ns.Labels)
	if ns.managedLabels = nil; ns.ManagedBy != "" {
		ns.managedLabels = keep(ns.Labels, r.rules.Label)
	}
	if !r.rules.AnyAnnotation() {
		ns.Annotations = nil
		return
	}
	ns.Annotations = keep(ns.Annotations, r.rules.Annotation)
}
