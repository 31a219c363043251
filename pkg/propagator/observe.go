package propagator

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// affect queues what a change of the tree affects. The lock must be held.
func (p *Propagator) affect(affected tree.Affected) {
	p.Metrics.Namespaces(p.tree.Len())
	p.roots.moved(p.tree, affected.Moved)
	p.forgetPolicies(affected.Moved)
	if affected.Propagation {
		p.reresolve()
	}
	if !p.leading {
		return
	}
	if len(affected.Moved) > 0 {
		// Other objects may count than before.
		p.configurationChanged()
		p.policiesMoved()
	}
	for _, name := range affected.Moved {
		p.moves++
		p.moving[name] = p.moves
		p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: name})
		p.changed(name)
		for _, key := range slices.Concat(p.tree.Asking(name), p.tree.Missing(name)) {
			p.asked(key)
		}
	}
	for _, name := range affected.Changed {
		p.changed(name)
	}
	for _, key := range affected.Subnamespaces {
		p.asked(key)
	}
}

func (p *Propagator) changed(name string) {
	p.bulk.Add(queue.Key{Class: queue.Namespace, Namespace: name})
	p.bulk.AddAfter(queue.Key{Class: queue.Status, Namespace: name}, p.StatusWindow)
}

func (p *Propagator) asked(key tree.Key) {
	k := queue.Key{Class: queue.Subnamespace, Namespace: key.Parent, Name: key.Name}
	p.stamp(k)
	p.urgent.Add(k)
}

// setNamespace enters a namespace, and queues what that affects. The lock must be held.
func (p *Propagator) setNamespace(ns *tree.Namespace) {
	old := p.tree.Namespace(ns.Name)
	if old == nil && p.leading && p.tree.HasChildren(ns.Name) {
		p.fresh.begin(ns.Name)
	}
	p.affect(p.tree.SetNamespace(ns))
	if !p.leading || old == nil || maps.Equal(old.Labels, ns.Labels) {
		return
	}
	for _, k := range p.kinds {
		if k.index.Selective() {
			p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: ns.Name})
			return
		}
	}
}

// observe queues what a change of an object affects; old or o is nil when there was or is none. The lock must be held.
func (p *Propagator) observe(kind int, old, o *copies.Object) {
	p.observeHeld(kind, old, o)
	if !p.leading || !p.kinds[kind].synced {
		return
	}
	p.configurationChanged()
	either := o
	if either == nil {
		either = old
	}
	namespace, name := either.Namespace, either.Name
	if o == nil {
		delete(p.kinds[kind].kept, old.UID)
	}
	if (!o.SameCopies(old) && p.tree.HasChildren(namespace)) || o.Remarkable(old) {
		p.changedSource(kind, namespace, name)
	}
	// Most changes are our own writes coming back.
	if p.decide(kind, namespace, name) != nil {
		p.bulk.Add(queue.Key{Class: queue.Copy, Kind: kind, Namespace: namespace, Name: name})
	} else {
		p.overcome(kind, namespace, name)
	}
}

// observeHeld records whether a copy that is deleted is kept by finalizers, which the namespace's Hierarchy reports. The lock must be held.
func (p *Propagator) observeHeld(kind int, old, o *copies.Object) {
	is, was := o.Held(), old.Held()
	if is == was {
		return
	}
	either := o
	if either == nil {
		either = old
	}
	object := fmt.Sprintf("%s %q", p.kinds[kind].index.Kind.GroupResource(), either.Name)
	if p.tree.SetHeld(either.Namespace, object, is) && p.leading {
		p.changed(either.Namespace)
	}
}

func (p *Propagator) changedSource(kind int, namespace, name string) {
	k := queue.Key{Class: queue.Source, Kind: kind, Namespace: namespace, Name: name}
	p.stamp(k)
	p.bulk.Add(k)
}

// decide returns what to write for one name in a namespace, nil if nothing. The lock must be held, for reading at least.
func (p *Propagator) decide(kind int, namespace, name string) *copies.Write {
	k := p.kinds[kind]
	if !k.synced || p.tree.Frozen(namespace) {
		return nil
	}
	return k.index.Decide(namespaces.Inheriting(p.tree, namespace), name)
}

// stamp remembers when work was first asked for. The lock must be held.
func (p *Propagator) stamp(key queue.Key) {
	if _, ok := p.seen[key]; !ok {
		p.seen[key] = time.Now()
	}
}

// unstamp forgets it, and returns it.
func (p *Propagator) unstamp(key queue.Key) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.seen[key]
	delete(p.seen, key)
	return at
}

// advance records up to which version the watch of a resource has brought the picture. The lock must be held.
func (p *Propagator) advance(resource, version string) {
	if known, ok := p.versions[resource]; !ok || tree.Newer(version, known) {
		p.versions[resource] = version
	}
}

// back says whether a list's version is before what the watch had brought, and if so goes back to it. The lock must be held.
func (p *Propagator) back(resource, version string) bool {
	known, ok := p.versions[resource]
	if !ok || !tree.Newer(known, version) {
		return false
	}
	p.versions[resource] = version
	return true
}

// ahead says whether what we have written is news to the picture: once the watch has passed that version, what we
// wrote may have been changed or deleted since, and the picture knows. The lock must be held.
func (p *Propagator) ahead(resource, version string) bool {
	known, ok := p.versions[resource]
	return !ok || tree.Newer(version, known)
}
