package tree

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// SetNamespace records a namespace unless the recorded one is as new.
func (t *Tree) SetNamespace(ns *Namespace) Affected {
	old := t.namespaces[ns.Name]
	if old != nil && !Newer(ns.ResourceVersion, old.ResourceVersion) {
		return Affected{}
	}
	t.complete(ns)
	return t.setNamespace(ns.Name, old, ns)
}

// DeleteNamespace forgets a namespace unless another incarnation is recorded.
func (t *Tree) DeleteNamespace(name string, uid types.UID) Affected {
	old := t.namespaces[name]
	if old == nil || old.UID != uid {
		return Affected{}
	}
	return t.setNamespace(name, old, nil)
}

func (t *Tree) setNamespace(name string, old, ns *Namespace) Affected {
	// Whether the records in the namespace are effective depends on its incarnation, and on whether it terminates or is
	// excluded.
	var inside []Key
	if old == nil || ns == nil || old.UID != ns.UID || old.Terminating != ns.Terminating || old.excluded != ns.excluded {
		for child := range t.subnamespaces[name] {
			inside = append(inside, Key{Parent: name, Name: child})
		}
		inside = append(inside, t.Missing(name)...)
	}
	names := []string{name}
	for _, key := range inside {
		names = append(names, key.Name)
	}
	affected := t.update(names, func() {
		if old != nil {
			delete(t.namespaces, name)
		}
		if ns == nil {
			delete(t.unwritten, name)
		} else {
			t.namespaces[name] = ns
		}
		t.recordConversion(old, ns)
		t.annotationChanged(old, ns)
	})
	affected.Changed = append(affected.Changed, names...) // The others are sub-namespaces, which may be orphans now.
	switch {
	case old == nil || ns == nil: // update has found that it appears or is gone.
	case old.UID != ns.UID:
		// A watch that was cut has brought neither the deletion nor the creation.
		affected.Moved = append(append(affected.Moved, name), t.forest.Descendants(name)...)
		if parent := t.forest.Parent(name); parent != "" {
			affected.Changed = append(affected.Changed, parent)
		}
	case old.Terminating != ns.Terminating, old.RecordsCascading() != ns.RecordsCascading():
		t.descendantsChanged(&affected, name)
	}
	if old == nil || ns == nil || old.Terminating != ns.Terminating {
		affected.Changed = append(affected.Changed, t.below(name)...)
	}
	if kept, keeps := old.keeps(), ns.keeps(); kept != keeps {
		affected.Changed = append(affected.Changed, kept, keeps)
	}
	for _, key := range inside {
		affected.Subnamespaces = append(affected.Subnamespaces, key)
		t.requestsChanged(&affected, key.Name)
	}
	if len(inside) > 0 || t.requestChanged(old, ns) {
		t.requestsChanged(&affected, name)
		for _, version := range []*Namespace{old, ns} {
			if version != nil && version.SubnamespaceOf != "" {
				affected.Changed = append(affected.Changed, version.SubnamespaceOf)
			}
		}
	}
	return affected
}

// SetHierarchy records a Hierarchy unless the recorded one is as new.
func (t *Tree) SetHierarchy(h *Hierarchy) Affected {
	old := t.hierarchies[h.Namespace]
	if old != nil && !Newer(h.ResourceVersion, old.ResourceVersion) {
		return Affected{}
	}
	h.Metadata.complete(t.rules.Keys)
	return t.setHierarchy(h.Namespace, old, h)
}

// DeleteHierarchy forgets a Hierarchy unless another incarnation is recorded.
func (t *Tree) DeleteHierarchy(namespace string, uid types.UID) Affected {
	old := t.hierarchies[namespace]
	if old == nil || old.UID != uid {
		return Affected{}
	}
	return t.setHierarchy(namespace, old, nil)
}

func (t *Tree) setHierarchy(namespace string, old, h *Hierarchy) Affected {
	cascading := func() bool { return t.namespaces[namespace].AllowsCascading(t.hierarchies[namespace], false) }
	before, effective := cascading(), t.Hierarchy(namespace) != nil
	affected := t.update([]string{namespace}, func() {
		if h == nil {
			delete(t.hierarchies, namespace)
		} else {
			t.hierarchies[namespace] = h
		}
		t.abstractChanged(namespace, old, h)
	})
	affected.Changed = append(affected.Changed, namespace)
	if ns, parent := t.namespaces[namespace], t.forest.Parent(namespace); ns != nil && ns.Terminating && parent != "" {
		// The status of the parent lists a terminating child only with its Hierarchy.
		affected.Changed = append(affected.Changed, parent)
	}
	affected.Subnamespaces = append(affected.Subnamespaces, t.requirementsChanged(namespace, old, h)...)
	if h != nil && effective != (t.Hierarchy(namespace) != nil) {
		for _, name := range h.Required {
			affected.Subnamespaces = append(affected.Subnamespaces, Key{Parent: namespace, Name: name})
		}
	}
	if cascading() != before {
		t.descendantsChanged(&affected, namespace)
	}
	affected.Subnamespaces = append(affected.Subnamespaces, t.claimsOn(namespace)...)
	return affected
}

// SetSubnamespace records a Subnamespace unless the recorded one is as new.
func (t *Tree) SetSubnamespace(s *Subnamespace) Affected {
	old := t.subnamespaces[s.Parent][s.Name]
	if old != nil && !Newer(s.ResourceVersion, old.ResourceVersion) {
		return Affected{}
	}
	s.Metadata.complete(t.rules.Keys)
	return t.setSubnamespace(s.Key, func() { t.subnamespaces.Set(s.Parent, s.Name, s) })
}

// DeleteSubnamespace forgets a Subnamespace unless another incarnation is recorded.
func (t *Tree) DeleteSubnamespace(key Key, uid types.UID) Affected {
	old := t.subnamespaces[key.Parent][key.Name]
	if old == nil || old.UID != uid {
		return Affected{}
	}
	return t.setSubnamespace(key, func() {
		t.subnamespaces.Delete(key.Parent, key.Name)
		delete(t.converted, key)
	})
}

func (t *Tree) setSubnamespace(key Key, mutate func()) Affected {
	affected := t.update([]string{key.Name}, func() {
		mutate()
		t.updateRequest(key)
	})
	affected.Changed = append(affected.Changed, key.Name)
	t.requestsChanged(&affected, key.Name)
	affected.Changed = append(affected.Changed, key.Parent)
	return affected
}

// position is what the forest needs to know of a namespace.
type position struct {
	parent   string
	exists   bool
	excluded bool
}

// update runs mutate, which may change the positions of the named namespaces, and returns what that affects. The
// descendants of a namespace do not depend on its own parent, so they are looked up only if there was a change.
func (t *Tree) update(names []string, mutate func()) Affected {
	before := make([]position, len(names))
	gave := make([]given, len(names))
	specified := make([][]v1beta1.ResourceSpec, len(names))
	for i, name := range names {
		before[i] = position{parent: t.forest.Parent(name), exists: t.forest.Exists(name), excluded: t.Excluded(name)}
		gave[i], specified[i] = t.given(name), t.Propagation(name)
	}
	mutate()
	var affected Affected
	for i, name := range names {
		affected.Propagation = affected.Propagation || !slices.Equal(t.Propagation(name), specified[i])
		after := position{parent: t.ParentWith(name, t.hierarchies[name]), exists: t.namespaces[name] != nil, excluded: t.Excluded(name)}
		if after == before[i] {
			if !t.given(name).equal(gave[i]) {
				affected.Changed = append(affected.Changed, t.forest.Descendants(name)...)
			}
			continue
		}
		t.forest.SetParent(name, after.parent)
		t.forest.SetExists(name, after.exists)
		affected.Moved = append(affected.Moved, name)
		affected.Moved = append(affected.Moved, t.forest.Descendants(name)...)
		for _, parent := range []string{before[i].parent, after.parent} {
			if parent != "" {
				affected.Changed = append(affected.Changed, parent)
				// Whether it can be created or deleted depends on whether it has children.
				affected.Subnamespaces = append(affected.Subnamespaces, t.RequestsFor(parent)...)
			}
		}
	}
	return affected
}
