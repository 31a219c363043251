package tree

import (
	"iter"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

// ancestorsWithin returns the ancestors of each namespace inside a subtree, its parent first.
func ancestorsWithin(nodes []Node) map[string][]string {
	above := make(map[string][]string, len(nodes))
	for _, n := range nodes[1:] {
		above[n.Name] = append([]string{n.Parent}, above[n.Parent]...)
	}
	return above
}

// writable reports whether the propagator writes in the namespace.
func (n Node) writable() bool { return n.Namespace != nil && n.Namespace.DeletionTimestamp == nil }

// movedDestinations returns the namespaces of a subtree as they are after its top, whose chain was before, has moved to
// the parent with the given chain: with the tree labels of their new ancestors and of the abstract ones above them. A
// namespace of the chain that is in the subtree was moved there after the chain had been read, so the move will be
// validated again, and it is not a destination of its own objects. labels returns the present labels of a namespace of
// the chain.
func movedDestinations(nodes []Node, before, chain, abstract []string, labels func(namespace string) map[string]string) iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		inner, moved := ancestorsWithin(nodes), make(map[string]*corev1.Namespace, len(nodes))
		for _, n := range nodes {
			if n.Namespace != nil && !slices.Contains(chain, n.Name) {
				moved[n.Name] = n.Namespace
			}
		}
		future := func(namespace string) map[string]string {
			if inside := moved[namespace]; inside != nil {
				return labelsBelow(inside, slices.Concat(inner[namespace], chain), abstract)
			}
			return labels(namespace)
		}
		for _, n := range nodes {
			if !n.writable() || moved[n.Name] == nil {
				continue
			}
			above, old := slices.Concat(inner[n.Name], chain), append(append([]string{}, inner[n.Name]...), before[1:]...)
			slices.Reverse(above)
			slices.Reverse(old)
			if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: future, Before: old}.Remember()) {
				return
			}
		}
	}
}

// labels returns the labels of a namespace, none if it does not exist.
func (i *Index) labels(namespace string) map[string]string {
	ns, err := i.config.Namespaces.Get(namespace)
	if err != nil {
		return nil
	}
	return ns.Labels
}

// abstractAbove returns the abstract ancestors above the root of a chain, the nearest first.
func (i *Index) abstractAbove(chain []string) []string {
	if len(chain) == 0 {
		return nil
	}
	root, err := i.config.Namespaces.Get(chain[len(chain)-1])
	if err != nil {
		return nil
	}
	return hnc.AbstractAncestors(root.Annotations)
}

// labelsBelow returns the labels of a namespace below the given ancestors, its parent first, and abstract ancestors
// above them.
func labelsBelow(namespace *corev1.Namespace, ancestors, abstract []string) map[string]string {
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
	for i, ancestor := range abstract {
		if _, nearer := labels[hnc.TreeLabel(ancestor)]; !nearer {
			labels[hnc.TreeLabel(ancestor)] = strconv.Itoa(len(ancestors) + i + 1)
		}
	}
	return labels
}

// destinationsBelow returns those of the destinations that are descendants of a namespace. It reads only these and its
// ancestors.
func (i *Index) destinationsBelow(name string) iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		top, err := i.config.Namespaces.Get(name)
		chain := i.activeChain(name)
		if err != nil || chain == nil {
			return
		}
		nodes := i.Subtree(top)
		inner := ancestorsWithin(nodes)
		for _, n := range nodes[1:] {
			if !n.writable() {
				continue
			}
			above := slices.Concat(inner[n.Name], chain[1:])
			slices.Reverse(above)
			if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: i.labels}.Remember()) {
				return
			}
		}
	}
}

// activeChain returns a namespace and its ancestors by effective edges, the root last, nil if what is below the root is
// halted.
func (i *Index) activeChain(name string) []string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	chain := i.forest.Chain(name)
	for depth, at := range chain {
		namespace, err := i.config.Namespaces.Get(at)
		if err != nil {
			namespace = nil
		}
		if i.parent(at, namespace) != "" {
			continue
		}
		if namespace == nil || i.config.Rules().Excluded(at, namespace.Labels) != "" {
			return nil
		}
		return chain[:depth+1]
	}
	return nil
}

// destinations returns all namespaces of all trees as they are, except descendants of a namespace whose parent is gone:
// these are halted.
func (i *Index) destinations() iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		for _, root := range i.roots() {
			nodes := i.Subtree(root)
			inner := ancestorsWithin(nodes)
			for _, n := range nodes {
				if !n.writable() {
					continue
				}
				above := slices.Clone(inner[n.Name])
				slices.Reverse(above)
				if !yield(copies.Destination{Namespace: n.Name, Ancestors: above, Labels: i.labels}.Remember()) {
					return
				}
			}
		}
	}
}
