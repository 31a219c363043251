package tree

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
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

// Converted reports whether the Subnamespace had a sub-namespace that was converted to a full namespace, even if that
// is gone. A full namespace that is not older than the Subnamespace counts as converted, because no user could create
// the Subnamespace while it existed.
func (f *facts) Converted(s *Subnamespace) bool {
	seen := f.converted[s.Key] == s.UID && s.UID != ""
	ns := f.namespaces[s.Name]
	if ns == nil {
		return seen
	}
	if ns.ManagedBy != "" || ns.SubnamespaceOf == s.Parent {
		return false
	}
	return seen || s.Status.State == v1beta1.SubnamespaceOk || ns.isLabeledChild(s.Parent) ||
		(ns.SubnamespaceOf == "" && !s.Created.IsZero() && !ns.Created.Before(&s.Created))
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
