package tree

import (
	"iter"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// within returns for each namespace of a subtree its ancestors in the subtree, its parent first.
func within(nodes []Node) map[string][]string {
	above := make(map[string][]string, len(nodes))
	for _, n := range nodes[1:] {
		above[n.Name] = append([]string{n.Parent}, above[n.Parent]...)
	}
	return above
}

// writable says whether the propagator writes in the namespace.
func (n Node) writable() bool { return n.Namespace != nil && n.Namespace.DeletionTimestamp == nil }

// moved returns the namespaces of a subtree as they will be when the first one has the parent whose chain is given: with tree labels for their new
// ancestors, and with those of the chain to inherit from.
func moved(nodes []Node, chain []string) iter.Seq[copies.Destination] {
	above := slices.Clone(chain)
	slices.Reverse(above)
	return func(yield func(copies.Destination) bool) {
		inner := within(nodes)
		for _, n := range nodes {
			if !n.writable() {
				continue
			}
			labels := func() map[string]string { return labelsBelow(n.Namespace, slices.Concat(inner[n.Name], chain)) }
			if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: labels}) {
				return
			}
		}
	}
}

// labelsBelow returns the labels that a namespace will have below the ancestors, its parent first.
func labelsBelow(namespace *corev1.Namespace, ancestors []string) map[string]string {
	labels := maps.Clone(namespace.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.DeleteFunc(labels, func(key, _ string) bool {
		_, ok := hnc.TreeLabelAncestor(key)
		return ok
	})
	labels[hnc.TreeLabel(namespace.Name)] = "0"
	for i, ancestor := range ancestors {
		labels[hnc.TreeLabel(ancestor)] = strconv.Itoa(i + 1)
	}
	return labels
}

// destinations returns all namespaces of all trees as they are. What is below a namespace whose parent is gone is left out: it is halted.
func (t *Tree) destinations() iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		for _, root := range t.roots() {
			nodes := t.Subtree(root)
			inner := within(nodes)
			for _, n := range nodes {
				if !n.writable() {
					continue
				}
				above := slices.Clone(inner[n.Name])
				slices.Reverse(above)
				if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: func() map[string]string { return n.Namespace.Labels }}) {
					return
				}
			}
		}
	}
}

// roots returns the namespaces without a parent that have children. What is below an excluded one is halted.
func (t *Tree) roots() []*corev1.Namespace {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var roots []*corev1.Namespace
	for _, name := range t.forest.Names() {
		namespace, err := t.Namespaces.Get(name)
		if err == nil && len(t.forest.Children(name)) > 0 && t.parent(name, namespace) == "" && t.Rules.Excluded(name, namespace.Labels) == "" {
			roots = append(roots, namespace)
		}
	}
	return roots
}
