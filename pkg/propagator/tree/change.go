package tree

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Affected is what a change affects. Names may repeat.
type Affected struct {
	// Moved are namespaces whose chain of ancestors, or whose being halted, may have changed: all that the propagator
	// writes in them may be different now.
	Moved []string
	// Changed are namespaces whose own labels or whose Hierarchy's status may be different now.
	Changed []string
	// Subnamespaces are Subnamespaces that may have to be acted on.
	Subnamespaces []Key
	// Propagation says that some namespace says something else about kinds.
	Propagation bool
}

// SetNamespace records a namespace unless what is recorded is as new.
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
	// The records in the namespace count or not depending on its incarnation, and on whether it terminates or is excluded.
	var inside []Key
	if old == nil || ns == nil || old.UID != ns.UID || old.Terminating != ns.Terminating || old.excluded != ns.excluded {
		for child := range t.records[name] {
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
		if ns != nil {
			t.namespaces[name] = ns
		}
		t.noteConversion(old, ns)
	})
	affected.Changed = append(affected.Changed, name)
	affected.Subnamespaces = append(affected.Subnamespaces, inside...)
	if len(inside) > 0 || old == nil || ns == nil || old.Terminating != ns.Terminating || old.SubnamespaceOf != ns.SubnamespaceOf {
		for _, key := range t.Asking(name) {
			affected.Subnamespaces = append(affected.Subnamespaces, key)
			affected.Changed = append(affected.Changed, key.Parent)
		}
		for _, version := range []*Namespace{old, ns} {
			if version != nil && version.SubnamespaceOf != "" {
				affected.Changed = append(affected.Changed, version.SubnamespaceOf)
			}
		}
	}
	return affected
}

// SetHierarchy records a Hierarchy unless what is recorded is as new.
func (t *Tree) SetHierarchy(h *Hierarchy) Affected {
	old := t.hierarchies[h.Namespace]
	if old != nil && !Newer(h.ResourceVersion, old.ResourceVersion) {
		return Affected{}
	}
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
	cascading := func() bool { h := t.Hierarchy(namespace); return h != nil && h.Cascading }
	before := cascading()
	affected := t.update([]string{namespace}, func() {
		if h == nil {
			delete(t.hierarchies, namespace)
		} else {
			t.hierarchies[namespace] = h
		}
	})
	affected.Changed = append(affected.Changed, namespace)
	affected.Subnamespaces = t.requirementsChanged(namespace, old, h)
	if cascading() != before {
		affected.Changed = append(affected.Changed, t.forest.Descendants(namespace)...)
	}
	affected.Subnamespaces = append(affected.Subnamespaces, t.Asking(namespace)...)
	return affected
}

// SetSubnamespace records a Subnamespace unless what is recorded is as new.
func (t *Tree) SetSubnamespace(s *Subnamespace) Affected {
	old := t.records[s.Parent][s.Name]
	if old != nil && !Newer(s.ResourceVersion, old.ResourceVersion) {
		return Affected{}
	}
	return t.setSubnamespace(s.Key, func() {
		if t.records[s.Parent] == nil {
			t.records[s.Parent] = map[string]*Subnamespace{}
		}
		t.records[s.Parent][s.Name] = s
	})
}

// DeleteSubnamespace forgets a Subnamespace unless another incarnation is recorded.
func (t *Tree) DeleteSubnamespace(key Key, uid types.UID) Affected {
	old := t.records[key.Parent][key.Name]
	if old == nil || old.UID != uid {
		return Affected{}
	}
	return t.setSubnamespace(key, func() {
		delete(t.records[key.Parent], key.Name)
		delete(t.converted, key)
		if len(t.records[key.Parent]) == 0 {
			delete(t.records, key.Parent)
		}
	})
}

func (t *Tree) setSubnamespace(key Key, mutate func()) Affected {
	affected := t.update([]string{key.Name}, func() {
		mutate()
		t.asks(key)
	})
	affected.Changed = append(affected.Changed, key.Name)
	for _, asking := range t.Asking(key.Name) {
		affected.Subnamespaces = append(affected.Subnamespaces, asking)
		affected.Changed = append(affected.Changed, asking.Parent)
	}
	affected.Changed = append(affected.Changed, key.Parent)
	return affected
}

// place is what the forest knows of a namespace by itself.
type place struct {
	parent   string
	exists   bool
	excluded bool
}

// update runs mutate, which may give the named namespaces another place, and returns what that affects. A namespace's
// descendants are the same whatever its own parent is, so they are asked for only once there was a change.
func (t *Tree) update(names []string, mutate func()) Affected {
	before := make([]place, len(names))
	gave := make([]given, len(names))
	said := make([][]v1beta1.ResourceSpec, len(names))
	for i, name := range names {
		before[i] = place{parent: t.forest.Parent(name), exists: t.forest.Exists(name), excluded: t.Excluded(name)}
		gave[i], said[i] = t.given(name), t.Propagation(name)
	}
	mutate()
	var affected Affected
	for i, name := range names {
		affected.Propagation = affected.Propagation || !slices.Equal(t.Propagation(name), said[i])
		after := place{parent: t.parentFor(name), exists: t.namespaces[name] != nil, excluded: t.Excluded(name)}
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
			}
		}
	}
	return affected
}

func insert(index map[string]sets.Set[string], key, value string) {
	if index[key] == nil {
		index[key] = sets.New[string]()
	}
	index[key].Insert(value)
}

func remove(index map[string]sets.Set[string], key, value string) {
	index[key].Delete(value)
	if len(index[key]) == 0 {
		delete(index, key)
	}
}
