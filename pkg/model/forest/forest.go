// Package forest holds trees of namespaces as data: parents, chains, moves and halts. It has no clients and does no
// I/O. A Forest is not safe for concurrent use.
package forest

import "sort"

// maxDepth bounds the namespaces of a chain from a namespace to its root. A move compares the chain that the
// namespace leaves and the chain that it joins in one etcd transaction, which allows 128 comparisons.
const maxDepth = 60

// Forest is a set of trees of namespaces. It contains each namespace that exists, has a parent, or has children.
type Forest struct {
	nodes    map[string]*node
	excluded func(name string) bool
}

type node struct {
	parent   string
	exists   bool
	children map[string]struct{}
}

// New returns an empty forest. excluded reports which namespaces cannot be part of a tree; nil excludes none.
func New(excluded func(name string) bool) *Forest {
	if excluded == nil {
		excluded = func(string) bool { return false }
	}
	return &Forest{nodes: map[string]*node{}, excluded: excluded}
}

// SetParent sets name's parent; an empty parent makes name a root. It accepts cycles: imported data is recorded and
// reported, not rejected.
func (f *Forest) SetParent(name, parent string) {
	n := f.node(name)
	old := n.parent
	if old != "" {
		delete(f.nodes[old].children, name)
	}
	n.parent = parent
	if parent != "" {
		f.node(parent).children[name] = struct{}{}
	}
	// Last, because name may be its own old parent.
	f.forget(old)
	f.forget(name)
}

// SetExists sets whether the namespace exists.
func (f *Forest) SetExists(name string, exists bool) {
	f.node(name).exists = exists
	f.forget(name)
}

func (f *Forest) node(name string) *node {
	n, ok := f.nodes[name]
	if !ok {
		n = &node{children: map[string]struct{}{}}
		f.nodes[name] = n
	}
	return n
}

func (f *Forest) forget(name string) {
	if n, ok := f.nodes[name]; ok && !n.exists && n.parent == "" && len(n.children) == 0 {
		delete(f.nodes, name)
	}
}

// Names returns all namespaces in the forest, sorted.
func (f *Forest) Names() []string {
	names := make([]string, 0, len(f.nodes))
	for name := range f.nodes {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Exists reports whether the namespace exists.
func (f *Forest) Exists(name string) bool {
	n, ok := f.nodes[name]
	return ok && n.exists
}

// Parent returns name's parent, "" for a root or an unknown namespace.
func (f *Forest) Parent(name string) string {
	if n, ok := f.nodes[name]; ok {
		return n.parent
	}
	return ""
}

// Children returns the namespaces whose parent is name, sorted.
func (f *Forest) Children(name string) []string {
	n, ok := f.nodes[name]
	if !ok || len(n.children) == 0 {
		return nil
	}
	children := make([]string, 0, len(n.children))
	for child := range n.children {
		children = append(children, child)
	}
	sort.Strings(children)
	return children
}

// HasChildren reports whether name is the parent of any namespace.
func (f *Forest) HasChildren(name string) bool {
	n, ok := f.nodes[name]
	return ok && len(n.children) > 0
}

// Chain returns name and its ancestors, the root last. In a cycle it ends before the first repetition.
func (f *Forest) Chain(name string) []string {
	chain := []string{name}
	for at := f.Parent(name); at != ""; at = f.Parent(at) {
		// Valid chains are short and end at a root. Imported ones may be long or have no end.
		if len(chain) > maxDepth {
			return f.longChain(name)
		}
		chain = append(chain, at)
	}
	return chain
}

func (f *Forest) longChain(name string) []string {
	var chain []string
	seen := map[string]bool{}
	for at := name; at != "" && !seen[at]; at = f.Parent(at) {
		seen[at] = true
		chain = append(chain, at)
	}
	return chain
}

// Descendants returns all descendants of name, parents before their children, siblings sorted. In a cycle it returns
// each member once, but never name.
func (f *Forest) Descendants(name string) []string {
	var all []string
	seen := map[string]bool{name: true}
	queue := f.Children(name)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		all = append(all, at)
		queue = append(queue, f.Children(at)...)
	}
	return all
}
