package tree

import (
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
)

// lineage adds to the requests the forest that follows from them.
type lineage struct {
	requests
	forest *forest.Forest
}

// Parent returns the namespace's effective parent, "" for a root.
func (l *lineage) Parent(name string) string { return l.forest.Parent(name) }

// Chain returns the namespace and its ancestors, the root last.
func (l *lineage) Chain(name string) []string { return l.forest.Chain(name) }

// Root returns the last namespace of the chain.
func (l *lineage) Root(name string) string {
	chain := l.forest.Chain(name)
	return chain[len(chain)-1]
}

// Cycle returns the cycle that the namespace is a member of, nil if there is none.
func (l *lineage) Cycle(name string) []string { return l.forest.Cycle(name) }

// Ancestors returns the namespace's ancestors without itself, the root first.
func (l *lineage) Ancestors(name string) []string {
	chain := l.forest.Chain(name)[1:]
	slices.Reverse(chain)
	return chain
}

// Descendants returns the namespaces below the namespace, parents before their children.
func (l *lineage) Descendants(name string) []string { return l.forest.Descendants(name) }

// Children returns the existing namespaces whose effective parent is the namespace, sorted.
func (l *lineage) Children(name string) []string {
	return slices.DeleteFunc(l.forest.Children(name), func(child string) bool { return l.namespaces[child] == nil })
}

// HasChildren reports whether a namespace is, or is about to be created, below the namespace.
func (l *lineage) HasChildren(name string) bool { return l.forest.HasChildren(name) }

// HasRemainingChildren reports whether HasChildren does not count namespaces that are being deleted, unless a
// Subnamespace is there to create them again.
func (l *lineage) HasRemainingChildren(name string) bool {
	return slices.ContainsFunc(l.forest.Children(name), func(child string) bool {
		ns, s := l.namespaces[child], l.Subnamespace(Key{Parent: name, Name: child})
		return ns == nil || !ns.Terminating || (s != nil && !s.Terminating)
	})
}

// HaltedAt returns the nearest namespace, from name upward, at which activities are halted, and the cause; "" for none.
func (l *lineage) HaltedAt(name string) (string, forest.Cause) { return l.forest.HaltedAt(name) }
