package tree

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/sets"
)

// A namespace that has sub-namespaces vanishes after the last of them. Kubernetes deletes the content of all of them at
// the same time; only the objects of those above wait for those of the ones below.

// VanishesLast reports whether the namespace has to have our finalizer: a sub-namespace of it exists, or may be about
// to.
func (f *facts) VanishesLast(name string) bool {
	ns := f.namespaces[name]
	if ns == nil || f.Excluded(name) {
		return false
	}
	if !ns.Terminating && f.HasSubnamespaces(name) {
		return true
	}
	for range f.awaited(name) {
		return true
	}
	return false
}

// Holders returns the sub-namespaces at any depth that keep a terminating namespace, and are not themselves kept by
// others, in order.
func (f *facts) Holders(name string) []string {
	found := sets.New[string]()
	f.addHolders(found, sets.New[string](), name)
	return sets.List(found)
}

func (f *facts) addHolders(found, seen sets.Set[string], name string) {
	for child := range f.awaited(name) {
		if seen.Has(child) {
			continue
		}
		seen.Insert(child)
		known := len(found)
		if f.addHolders(found, seen, child); len(found) == known {
			found.Insert(child)
		}
	}
}

// awaited yields the sub-namespaces that are being deleted, or will be along with the namespace. Those that will stay
// as orphans are not awaited. A sub-namespace may be yielded twice.
func (f *facts) awaited(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for child := range f.annotated[name] {
			// Its Subnamespace and its Hierarchy may be gone already. An annotation alone has no effect, as in
			// HasSubnamespaces.
			goes := f.namespaces[child].keeps() == name || (f.IsDetached(Key{Parent: name, Name: child}) && f.cascades(name))
			if goes && !yield(child) {
				return
			}
		}
		if ns := f.namespaces[name]; ns == nil || ns.Finalized {
			// Its Subnamespaces are gone, or nobody serves them.
			return
		}
		for child, s := range f.subnamespaces[name] {
			// Until the Subnamespace is released, it is not decided that the namespace stays.
			if ns := f.namespaces[child]; ns != nil && s.Held() && f.Subnamespace(s.Key) != nil &&
				ns.SubnamespaceOf == name && f.Parent(child) == name && !yield(child) {
				return
			}
		}
	}
}

// cascades reports whether a namespace is being deleted along with its sub-namespaces.
func (f *facts) cascades(name string) bool {
	return f.namespaces[name] != nil && f.namespaces[name].Terminating && f.CascadingAllowed(name)
}

// keeps returns the namespace that vanishes after a terminating sub-namespace, "" for none.
func (n *Namespace) keeps() string {
	if n == nil || !n.Terminating || n.SubnamespaceOf == "" || !n.isLabeledChild(n.SubnamespaceOf) {
		return ""
	}
	return n.SubnamespaceOf
}

// annotationChanged records which namespace the annotation of a namespace names as its parent.
func (f *facts) annotationChanged(old, ns *Namespace) {
	if old != nil && old.SubnamespaceOf != "" {
		remove(f.annotated, old.SubnamespaceOf, old.Name)
	}
	if ns != nil && ns.SubnamespaceOf != "" {
		insert(f.annotated, ns.SubnamespaceOf, ns.Name)
	}
}
