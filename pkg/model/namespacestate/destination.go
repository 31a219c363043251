package namespacestate

import (
	"maps"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// Destination describes a namespace as the destination of copies. It is valid only while the tree and the objects stay
// the same, and not safe for concurrent use. The kept labels are those of FutureLabels.
func Destination(t *tree.Tree, name string, kept ...string) copies.Destination {
	d := copies.Destination{
		Namespace: name,
		Ancestors: t.Ancestors(name),
		Labels:    func(namespace string) map[string]string { return FutureLabels(t, namespace, kept...) },
	}
	if t.Goes(name) {
		d.Stays = t.Active
	}
	return d.Remember()
}

// FutureLabels returns the labels of a namespace as they will be once the propagator has written its own. The kept ones
// stay as they are, because the tree does not contain what they follow from.
func FutureLabels(t *tree.Tree, name string, kept ...string) map[string]string {
	labels := map[string]string{}
	if ns := t.Namespace(name); ns != nil {
		maps.Copy(labels, ns.Labels)
	}
	for key, value := range LabelChanges(t, name) {
		switch {
		case slices.Contains(kept, key):
		case value == nil:
			delete(labels, key)
		default:
			labels[key] = *value
		}
	}
	return labels
}
