package treerules

import (
	"context"
	"sort"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
)

// Node is a namespace in a subtree.
type Node struct {
	// Name is the name of the namespace.
	Name string
	// Parent is the name of its parent, "" for a root.
	Parent string
	// Depth is the distance from the top of the subtree.
	Depth int
	// Namespace is the namespace itself, nil if it has an edge but does not exist.
	Namespace *corev1.Namespace
}

// Subtree returns the namespace and all its descendants, depth first. It reads the caches, which contain everything
// that was committed before a call of WaitUntilFresh.
func (i *Index) Subtree(top *corev1.Namespace) []Node {
	i.mu.RLock()
	defer i.mu.RUnlock()
	nodes := []Node{{Name: top.Name, Parent: i.parent(top.Name, top), Namespace: top}}
	i.forest.Walk(top.Name, func(name string, depth int) bool {
		if depth == 0 {
			return true
		}
		namespace, err := i.config.Namespaces.Get(name)
		if err != nil {
			namespace = nil
		}
		parent := i.parent(name, namespace)
		if parent == "" {
			return false
		}
		nodes = append(nodes, Node{Name: name, Parent: parent, Depth: depth, Namespace: namespace})
		return true
	})
	return nodes
}

// Members returns the names of a namespace and its descendants, sorted, without those that do not exist. It reads the
// caches, and fails with ServiceUnavailable until the index is synced.
func (i *Index) Members(ctx context.Context, name string) ([]string, error) {
	if i.Ready(nil) != nil {
		return nil, apierrors.NewServiceUnavailable("the tree has not been read yet; try again")
	}
	top, err := i.Namespace(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, internalerror.From(err)
	}
	var names []string
	for _, node := range i.Subtree(top) {
		if node.Namespace != nil {
			names = append(names, node.Name)
		}
	}
	sort.Strings(names)
	return names, nil
}

// parent returns the parent of a namespace if the cached edge is effective, "" otherwise. Holders are void unless they
// are bound to the cached namespaces. The caller holds the lock.
func (i *Index) parent(name string, namespace *corev1.Namespace) string {
	e := i.edges[name].edgeValue
	if namespace == nil {
		if e.Hierarchy != "" || i.uid(e.Parent) == "" || i.uid(e.Parent) == e.Subnamespace {
			return e.Parent
		}
		return ""
	}
	if e.Hierarchy != namespace.UID {
		e.Hierarchy = ""
		if e.Subnamespace != i.uid(e.Parent) {
			return ""
		}
	}
	if i.config.Rules().Excluded(name, namespace.Labels) != "" || !e.gives(namespace) {
		return ""
	}
	return e.Parent
}

// uid returns the UID of a cached namespace, "" if there is none.
func (i *Index) uid(name string) types.UID {
	if namespace, err := i.config.Namespaces.Get(name); err == nil {
		return namespace.UID
	}
	return ""
}

// roots returns the namespaces without a parent that have children, except excluded ones: what is below those is
// halted.
func (i *Index) roots() []*corev1.Namespace {
	i.mu.RLock()
	defer i.mu.RUnlock()
	var roots []*corev1.Namespace
	for _, name := range i.forest.Names() {
		namespace, err := i.config.Namespaces.Get(name)
		if err == nil && len(i.forest.Children(name)) > 0 && i.parent(name, namespace) == "" && i.config.Rules().Excluded(name, namespace.Labels) == "" {
			roots = append(roots, namespace)
		}
	}
	return roots
}
