package treerules

import (
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// InPlace reports whether a namespace whose Hierarchy names the parent is in place: it and all its ancestors exist and
// are not excluded, and if it is a sub-namespace, a Subnamespace claims it. It reads caches only and returns false on a
// miss; the propagator sets Ready in that case.
func (i *Index) InPlace(name, parent string) bool {
	var ancestors []string
	i.mu.RLock()
	edge := i.edges[name].edgeValue
	if parent != "" {
		ancestors = i.forest.Chain(parent)
	}
	i.mu.RUnlock()
	if slices.ContainsFunc(ancestors, func(ancestor string) bool { return !i.included(ancestor) }) || !i.included(name) {
		return false
	}
	namespace, err := i.config.Namespaces.Get(name)
	if err != nil || (parent != "" && managedkeys.External(namespace.Annotations)) {
		return false
	}
	of := managedkeys.SubnamespaceOf(namespace.Annotations)
	if of == "" {
		return true
	}
	holder, err := i.config.Namespaces.Get(of)
	return err == nil && edge.Parent == of && edge.Subnamespace == holder.UID
}

// included reports whether the cache contains a namespace that is not excluded.
func (i *Index) included(name string) bool {
	_, err := i.config.Namespaces.Get(name)
	return err == nil && !i.Excluded(name)
}

// Excluded reports whether a namespace is excluded from trees, according to the cache.
func (i *Index) Excluded(name string) bool {
	var labels map[string]string
	if namespace, err := i.config.Namespaces.Get(name); err == nil {
		labels = namespace.Labels
	}
	return i.config.Rules().Excluded(name, labels) != ""
}
