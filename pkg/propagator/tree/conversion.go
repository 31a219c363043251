package tree

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Whoever removes the annotation of a sub-namespace converts it to a full namespace, which keeps its place. Its Subnamespace becomes void.

// noteConversion remembers that a namespace was a sub-namespace and is not one any more: it may be deleted before its Subnamespace is marked.
func (t *Tree) noteConversion(old, ns *Namespace) {
	if old == nil || ns == nil || old.UID != ns.UID || ns.ManagedBy != "" || old.SubnamespaceOf == ns.SubnamespaceOf {
		return
	}
	delete(t.converted, Key{Parent: ns.SubnamespaceOf, Name: ns.Name})
	key := Key{Parent: old.SubnamespaceOf, Name: ns.Name}
	if s := t.Subnamespace(key); s != nil {
		t.converted[key] = s.UID
	}
}

// Converted says whether the Subnamespace had a sub-namespace that was converted to a full namespace, whether or not that still exists. A full
// namespace that is not older than the Subnamespace counts as converted: nobody could create the Subnamespace while it existed.
func (t *Tree) Converted(s *Subnamespace) bool {
	seen := t.converted[s.Key] == s.UID && s.UID != ""
	ns := t.namespaces[s.Name]
	if ns == nil {
		return seen
	}
	if ns.ManagedBy != "" || ns.SubnamespaceOf == s.Parent {
		return false
	}
	return seen || s.Status.State == v1beta1.SubnamespaceOk || ns.Labels[hnc.TreeLabel(s.Parent)] == "1" ||
		(ns.SubnamespaceOf == "" && !s.Created.IsZero() && !ns.Created.Before(&s.Created))
}

// bornBelow returns the parent of a namespace that was converted before it had a Hierarchy that names one, "" for any other. The evidence is the tree label with
// which the propagator has created it.
func (t *Tree) bornBelow(ns *Namespace) string {
	for _, key := range t.Asking(ns.Name) {
		s := t.Subnamespace(key)
		if s != nil && !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) && ns.Labels[hnc.TreeLabel(key.Parent)] == "1" {
			return key.Parent
		}
	}
	return ""
}
