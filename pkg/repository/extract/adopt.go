package extract

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// adopt returns the objects with other ones for the copies whose sources are above the namespaces: that in the topmost
// namespace is the source of the others. If that has none, because of an exception, each is an object of its own.
// Objects are not changed.
func (t *tree) adopt(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	// foreign are the copies by kind, namespace and name.
	foreign := map[source]bool{}
	for _, o := range objects {
		if t.isForeign(o) {
			foreign[sourceOf(o)] = true
		}
	}
	adopted := slices.Clone(objects)
	for i, o := range objects {
		if !t.isForeign(o) {
			continue
		}
		o = o.DeepCopy()
		labels := o.GetLabels()
		top := sourceOf(o)
		top.namespace = t.top(o.GetNamespace())
		if labels[hnc.LabelInheritedFrom] = top.namespace; top.namespace == o.GetNamespace() || !foreign[top] {
			delete(labels, hnc.LabelInheritedFrom)
			if labels[hnc.LabelManagedBy] == hnc.GroupName {
				delete(labels, hnc.LabelManagedBy)
			}
		}
		o.SetLabels(labels)
		adopted[i] = o
	}
	return adopted
}

// isForeign reports whether an object of the namespaces is a copy of one in another namespace.
func (t *tree) isForeign(o *unstructured.Unstructured) bool {
	return isCopy(o) && t.byName[o.GetNamespace()] != nil && t.byName[o.GetLabels()[hnc.LabelInheritedFrom]] == nil
}

// top returns the topmost namespace above a namespace, which may be itself.
func (t *tree) top(namespace string) string {
	if above := t.byName[namespace].Ancestors; len(above) > 0 {
		return above[len(above)-1]
	}
	return namespace
}
