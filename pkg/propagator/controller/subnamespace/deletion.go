package subnamespace

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"

// planDeletion decides on a Subnamespace that is being deleted. Source: spec/hnc.md 3.6.
func planDeletion(t *tree.Tree, s *tree.Subnamespace) plan {
	release := plan{action: release}
	if !s.Held() {
		release = plan{action: none}
	}
	ns := t.Namespace(s.Name)
	// A Hierarchy that is being deleted takes no parent, and must not keep a parent that is being deleted, too.
	if plan := planVoid(t, s); plan.setParent && ns.SubnamespaceOf == "" && (t.Hierarchy(s.Name) == nil || t.Active(s.Parent)) {
		return plan
	}
	switch {
	case t.Subnamespace(s.Key) == nil, ns == nil, t.Excluded(s.Parent), t.Excluded(s.Name), ns.SubnamespaceOf != s.Parent:
		return release
	case elsewhere(t, s):
		return release
	case ns.Terminating:
		return plan{action: none}
	case !s.Held() || !mayDelete(t, s):
		// It stays, as an orphan.
		return release
	}
	return plan{action: deleteNamespace, uid: ns.UID, resourceVersion: ns.ResourceVersion}
}

// elsewhere reports whether the namespace's Hierarchy names another parent than the Subnamespace's.
func elsewhere(t *tree.Tree, s *tree.Subnamespace) bool {
	h := t.Hierarchy(s.Name)
	return h != nil && h.Parent != "" && h.Parent != s.Parent
}

// mayDelete reports whether the namespace may be deleted with its Subnamespace. When the parent terminates, its content is deleted in a
// random order, and the user who deleted it may not have known of the sub-namespace: only cascading deletion permits it then.
func mayDelete(t *tree.Tree, s *tree.Subnamespace) bool {
	parent := t.Namespace(s.Parent)
	switch {
	case parent == nil:
		return false
	case parent.Terminating:
		return t.CascadingAllowed(s.Parent)
	}
	return !t.HasChildren(s.Name) || t.CascadingAllowed(s.Name)
}
