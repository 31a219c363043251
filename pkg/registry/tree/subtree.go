package tree

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

// Node is a namespace in a subtree.
type Node struct {
	// Name is its name.
	Name string
	// Parent is its parent's name, "" for a root.
	Parent string
	// Depth is the distance from the top of the subtree.
	Depth int
	// Namespace is the namespace itself, nil if it has a place in the tree and is not known.
	Namespace *corev1.Namespace
}

// Subtree returns the namespace and all its descendants, depth first, as far as the caches know: which is what was committed
// before the call, after Catch has returned.
func (t *Tree) Subtree(top *corev1.Namespace) []Node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	nodes := []Node{{Name: top.Name, Parent: t.parent(top.Name, top), Namespace: top}}
	t.forest.Walk(top.Name, func(name string, depth int) bool {
		if depth == 0 {
			return true
		}
		namespace, err := t.Namespaces.Get(name)
		if err != nil {
			namespace = nil
		}
		parent := t.parent(name, namespace)
		if parent == "" {
			return false
		}
		nodes = append(nodes, Node{Name: name, Parent: parent, Depth: depth, Namespace: namespace})
		return true
	})
	return nodes
}

// parent returns name's parent if its edge counts, judged by the caches, and "" otherwise. The edge of a namespace that exists
// counts if it is bound to that very namespace, or if the namespace is the sub-namespace of a Subnamespace that holds it.
func (t *Tree) parent(name string, namespace *corev1.Namespace) string {
	e := t.edges[name].Edge
	if namespace == nil {
		if e.Hierarchy != "" || t.uid(e.Parent) == "" || t.uid(e.Parent) == e.Subnamespace {
			return e.Parent
		}
		return ""
	}
	switch {
	case t.Rules.Excluded(name, namespace.Labels) != "", managed.External(namespace.Annotations):
		return ""
	case e.Hierarchy == namespace.UID:
		return e.Parent
	case belongs(namespace, e.Parent) && e.Subnamespace != "" && t.uid(e.Parent) == e.Subnamespace:
		return e.Parent
	}
	return ""
}

// uid returns the UID of a namespace, "" if it is not known.
func (t *Tree) uid(name string) types.UID {
	if namespace, err := t.Namespaces.Get(name); err == nil {
		return namespace.UID
	}
	return ""
}
