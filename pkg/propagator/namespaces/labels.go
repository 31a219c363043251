package namespaces

import (
	"strconv"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

const yes = "true"

// Labels returns the labels of ours that the namespace shall have, whether or not it exists yet. Tree labels end with
// the namespace at which activities are halted, itself included, so that a member of a cycle has only its own. Source:
// spec/hnc.md 3.3.
func Labels(t *tree.Tree, name string) map[string]string {
	if t.Excluded(name) {
		return nil
	}
	labels := map[string]string{hnc.LabelIncludedNamespace: yes}
	halted, _ := t.HaltedAt(name)
	for depth, ancestor := range t.Chain(name) {
		labels[hnc.TreeLabel(ancestor)] = strconv.Itoa(depth)
		if ancestor == halted {
			break
		}
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

// LabelChanges returns what has to change in the labels of an existing namespace, as the labels of a JSON merge patch:
// nil removes a label. It returns nothing when all is right, and for a terminating namespace.
func LabelChanges(t *tree.Tree, name string) map[string]*string {
	ns := t.Namespace(name)
	if ns == nil || ns.Terminating {
		return nil
	}
	changes := map[string]*string{}
	wanted := Labels(t, name)
	for key := range ns.Labels {
		if _, ok := wanted[key]; !ok && ours(key) {
			changes[key] = nil
		}
	}
	for key, value := range wanted {
		if present, ok := ns.Labels[key]; !ok || present != value {
			changes[key] = &value
		}
	}
	return changes
}

// ours says whether a label of a namespace is written by the propagator alone.
func ours(key string) bool {
	switch key {
	case hnc.LabelIncludedNamespace, hnc.LabelHasSubnamespaces, hnc.LabelCascadingDeletion, hnc.LabelOrphaned:
		return true
	}
	_, ok := hnc.TreeLabelAncestor(key)
	return ok
}
