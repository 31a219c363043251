package tree

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A user who removes the annotation of a sub-namespace converts it to a full namespace, which keeps its parent. Its
// Subnamespace becomes void.

// recordConversion records that a namespace was a sub-namespace and is not one any more: it may be deleted before its
// Subnamespace is marked as void.
func (f *facts) recordConversion(old, ns *Namespace) {
	if old == nil || ns == nil || old.UID != ns.UID || ns.ManagedBy != "" || old.SubnamespaceOf == ns.SubnamespaceOf {
		return
	}
	delete(f.converted, Key{Parent: ns.SubnamespaceOf, Name: ns.Name})
	key := Key{Parent: old.SubnamespaceOf, Name: ns.Name}
	if s := f.Subnamespace(key); s != nil {
		f.converted[key] = s.UID
	}
}

// BecomesVoid reports whether the Subnamespace loses its effect: its namespace was converted to a full one, even if
// that is gone, or is none of its parent's. A user could otherwise make such a namespace its sub-namespace later by an
// annotation, although nothing was validated but that the name was free. The exception is a namespace below the parent
// that is annotated as external, which has no effect there.
func (f *facts) BecomesVoid(s *Subnamespace) bool {
	ns := f.namespaces[s.Name]
	switch {
	case ns == nil:
		return f.converted[s.Key] == s.UID && s.UID != ""
	case ns.ManagedBy != "":
		return f.Parent(s.Name) != s.Parent
	}
	return ns.SubnamespaceOf != s.Parent
}

// bornBelow returns the parent of a namespace that was converted before it had a Hierarchy that names one, "" for any
// other. The evidence is the tree label that the propagator created it with.
func (f *facts) bornBelow(ns *Namespace) string {
	for _, key := range f.RequestsFor(ns.Name) {
		s := f.Subnamespace(key)
		if s != nil && !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) && ns.isLabeledChild(key.Parent) {
			return key.Parent
		}
	}
	return ""
}
