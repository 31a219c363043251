package subnamespace

import (
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// Kubernetes waits 5 seconds before it deletes the content of a terminating namespace, and some more seconds before it
// tries again because of an object with a finalizer. So the Subnamespaces of a terminating namespace are reconciled
// before they are deleted themselves: their namespaces are deleted at once, at all levels, and their finalizers are
// removed before anything waits for them.

// goes reports whether the Subnamespace is being deleted, or will be because its parent is.
func goes(t *tree.Tree, s *tree.Subnamespace) bool { return s.Terminating || parentTerminates(t, s) }

func parentTerminates(t *tree.Tree, s *tree.Subnamespace) bool {
	parent := t.Namespace(s.Parent)
	return parent != nil && parent.Terminating
}

// planDeletion decides on a Subnamespace that goes. Source: docs/spec/hnc.md 3.6.
func planDeletion(t *tree.Tree, s *tree.Subnamespace) plan {
	released := plan{action: release}
	if !s.Held() {
		released = plan{action: none}
	}
	if detached := planDetached(t, s.Key); detached.action != none {
		return detached
	}
	ns := t.Namespace(s.Name)
	// A Hierarchy that is being deleted takes no parent, and must not keep a parent that is being deleted, too.
	voiding := planVoiding(t, s)
	if voiding.setParent && ns.SubnamespaceOf == "" && (t.Hierarchy(s.Name) == nil || t.Active(s.Parent)) {
		return voiding
	}
	// Finalizers of others may keep the claim on the name indefinitely.
	if s.Terminating && !voiding.setParent && keptByOthers(s) && t.Subnamespace(s.Key) != nil && t.BecomesVoid(s) {
		return voiding
	}
	switch {
	case t.Subnamespace(s.Key) == nil, ns == nil, t.Excluded(s.Parent), t.Excluded(s.Name), ns.SubnamespaceOf != s.Parent:
		return released
	case elsewhere(t, s):
		return released
	case ns.Terminating && parentTerminates(t, s):
		// Neither comes back.
		return released
	case ns.Terminating:
		return plan{action: none}
	case !s.Held() || !mayDelete(t, s):
		// It stays, as an orphan, and in its tree: its Hierarchy names the parent first.
		h := t.Hierarchy(s.Name)
		released.setParent = s.Held() && t.Active(s.Parent) && (h == nil || h.Parent == "")
		return released
	}
	return planDelete(t, ns)
}

func keptByOthers(s *tree.Subnamespace) bool {
	return slices.ContainsFunc(s.Finalizers, func(f string) bool { return f != hnc.FinalizerSubnamespace })
}

// planDetached decides on a sub-namespace that no Subnamespace keeps: it goes along with its parent.
func planDetached(t *tree.Tree, key tree.Key) plan {
	parent := t.Namespace(key.Parent)
	if parent == nil || !parent.Terminating || t.Excluded(key.Parent) || !t.IsDetached(key) || !t.CascadingAllowed(key.Parent) {
		return plan{action: none}
	}
	return planDelete(t, t.Namespace(key.Name))
}

func planDelete(t *tree.Tree, ns *tree.Namespace) plan {
	return plan{
		action: deleteNamespace, uid: ns.UID,
		recordCascading: t.CascadingAllowed(ns.Name) && ns.Labels[hnc.LabelCascadingDeletion] != hnc.CascadingAllowed,
	}
}

// elsewhere reports whether the namespace's Hierarchy names another parent than the Subnamespace's.
func elsewhere(t *tree.Tree, s *tree.Subnamespace) bool {
	h := t.Hierarchy(s.Name)
	return h != nil && h.Parent != "" && h.Parent != s.Parent
}

// mayDelete reports whether the namespace may be deleted with its Subnamespace.
func mayDelete(t *tree.Tree, s *tree.Subnamespace) bool {
	if t.Namespace(s.Parent) == nil {
		return false
	}
	at := needsCascading(t, s)
	return at == "" || t.CascadingAllowed(at)
}

// needsCascading returns the namespace that has to allow cascading deletion for the Subnamespace's namespace to be
// deleted, "" if none has to. When the parent terminates, the user who deleted it may not have known of the
// sub-namespace: only cascading deletion permits it then.
func needsCascading(t *tree.Tree, s *tree.Subnamespace) string {
	switch {
	case parentTerminates(t, s):
		return s.Parent
	case t.HasRemainingChildren(s.Name):
		return s.Name
	}
	return ""
}
