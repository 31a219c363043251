package namespacestate

import (
	"maps"
	"slices"
	"strconv"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

const yes = "true"

// Labels returns the tree labels, the managed labels and the other labels of the propagator that the namespace must
// have, whether or not it exists yet. Tree labels end with the namespace at which activities are halted, which is
// included, so that a member of a cycle has only its own. Source: docs/spec/hnc.md 3.3.
func Labels(t *tree.Tree, name string) map[string]string {
	if t.Excluded(name) {
		return nil
	}
	labels := managedLabels(t, name)
	maps.Copy(labels, InheritedPodSecurity(t, name))
	labels[hnc.LabelIncludedNamespace] = yes
	path := reach(t, name)
	root := path[len(path)-1]
	// The manager of the root has set the distance to namespaces outside this cluster's trees.
	for key, distance := range t.ForeignTrees(root) {
		labels[key] = strconv.Itoa(distance + len(path) - 1)
	}
	maps.Copy(labels, hnc.TreeLabels(slices.Concat(path, t.AbstractAncestors(root))))
	if len(t.Chain(name)) > 1 || t.HasChildren(name) {
		labels[hnc.LabelInTree] = yes
	}
	if t.HasSubnamespaces(name) {
		labels[hnc.LabelHasSubnamespaces] = yes
	}
	if t.CascadingAllowed(name) {
		labels[hnc.LabelCascadingDeletion] = hnc.CascadingAllowed
	}
	if t.Orphaned(name) {
		labels[hnc.LabelOrphaned] = yes
	}
	return labels
}

// reach returns the namespace and those of its ancestors that affect it: up to the one at which activities are halted.
func reach(t *tree.Tree, name string) []string {
	chain := t.Chain(name)
	halted, _ := t.HaltedAt(name)
	for i, ancestor := range chain {
		if ancestor == halted {
			return chain[:i+1]
		}
	}
	return chain
}

// LabelChanges returns how the labels of an existing namespace have to change, as the labels of a JSON merge patch: nil
// removes a label. It returns nothing if they are right. Those of a terminating namespace stay as they were, except
// for the label of a revoked permission to cascade, which is trusted once the Hierarchy is gone.
func LabelChanges(t *tree.Tree, name string) map[string]*string {
	ns := t.Namespace(name)
	switch {
	case ns == nil:
		return nil
	case ns.RecordsCascading() && t.Hierarchy(name) != nil && !t.CascadingAllowed(name):
		return map[string]*string{hnc.LabelCascadingDeletion: nil}
	case ns.Terminating:
		return nil
	}
	return changes(ns.Labels, Labels(t, name), func(key string) bool {
		return ours(key) || (!t.Excluded(name) && (t.Keys().Label(key) || outdatedPodSecurity(t, name, key)))
	})
}

// FinalizerChanges returns whether the namespace has to get our finalizer, or to lose it. A terminating namespace can't
// get it any more.
func FinalizerChanges(t *tree.Tree, name string) (add, remove bool) {
	ns := t.Namespace(name)
	if ns == nil {
		return false, false
	}
	wanted := t.VanishesLast(name)
	return wanted && !ns.VanishesLast && !ns.Terminating && t.HasSubnamespaces(name), !wanted && ns.VanishesLast
}

// changes returns how to get from present to wanted, as a JSON merge patch. Of the unwanted keys it removes only those
// that the propagator alone writes.
func changes(present, wanted map[string]string, alone func(key string) bool) map[string]*string {
	patch := map[string]*string{}
	for key := range present {
		if _, ok := wanted[key]; !ok && alone(key) {
			patch[key] = nil
		}
	}
	for key, value := range wanted {
		if has, ok := present[key]; !ok || has != value {
			patch[key] = &value
		}
	}
	return patch
}

// ours reports whether the propagator alone writes a label of a namespace.
func ours(key string) bool {
	switch key {
	case hnc.LabelIncludedNamespace, hnc.LabelInTree, hnc.LabelHasSubnamespaces, hnc.LabelCascadingDeletion, hnc.LabelOrphaned:
		return true
	}
	_, ok := hnc.TreeLabelAncestor(key)
	return ok
}
