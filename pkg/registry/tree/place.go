package tree

import (
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

// InPlace says whether a namespace whose Hierarchy names the parent has its place in the tree, as far as the caches know: it and all its
// ancestors exist and can be part of a tree, and if it is a sub-namespace, a Subnamespace stands for it. It asks nobody, so that it costs
// nothing, and says no where it does not know. What it has not heard of yet is for the propagator to find out.
func (t *Tree) InPlace(name, parent string) bool {
	var ancestors []string
	t.mu.RLock()
	edge := t.edges[name].Edge
	if parent != "" {
		ancestors = t.forest.Chain(parent)
	}
	t.mu.RUnlock()
	if slices.ContainsFunc(ancestors, func(ancestor string) bool { return !t.takesPart(ancestor) }) || !t.takesPart(name) {
		return false
	}
	namespace, err := t.Namespaces.Get(name)
	if err != nil || (parent != "" && managed.External(namespace.Annotations)) {
		return false
	}
	of := SubnamespaceOf(namespace)
	if of == "" {
		return true
	}
	holder, err := t.Namespaces.Get(of)
	return err == nil && edge.Parent == of && edge.Subnamespace == holder.UID
}

// takesPart says whether the cache holds the namespace, and the rules don't exclude it.
func (t *Tree) takesPart(name string) bool {
	namespace, err := t.Namespaces.Get(name)
	return err == nil && t.Rules.Excluded(name, namespace.Labels) == ""
}
