// Package plan evaluates a change before it is made: on a snapshot of the tree and the objects, with the functions
// that the propagator uses. It has no clients.
package plan

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// Effect is the effect of a change in one namespace.
type Effect struct {
	Namespace string
	Fate      hnc.PlannedFate
	// Labels are ordered by key.
	Labels []hnc.PlannedLabel
	// Writes are ordered by kind, removals first, then by name.
	Writes []copies.Write
}

// Scope returns a namespace and its descendants, parents before their children.
func Scope(t *tree.Tree, name string) []string {
	return append([]string{name}, t.Descendants(name)...)
}

// Move sets the parent of a namespace in the tree, "" for none.
func Move(t *tree.Tree, name, parent string) {
	change(t, name, func(h *tree.Hierarchy) { h.Parent = parent })
}

// Abstract sets the abstract ancestors of a namespace in the tree.
func Abstract(t *tree.Tree, name string, ancestors []string) {
	change(t, name, func(h *tree.Hierarchy) { h.Abstract = ancestors })
}

// change changes the Hierarchy of a namespace in the tree, which need not exist.
func change(t *tree.Tree, name string, f func(*tree.Hierarchy)) {
	h := tree.Hierarchy{Namespace: name}
	if present := t.HierarchyRecord(name); present != nil {
		h = *present
	}
	if ns := t.Namespace(name); ns != nil {
		h.Owner = ns.UID
	}
	f(&h)
	h.ResourceVersion = "planned" // a version that is not a number is newer than any
	t.SetHierarchy(&h)
}

// WithLabels adds to the effects the changes of tree labels in each namespace of the scope, in its order.
func WithLabels(t *tree.Tree, effects iter.Seq[Effect], scope []string) iter.Seq[Effect] {
	return func(yield func(Effect) bool) {
		next, stop := iter.Pull(effects)
		defer stop()
		e, more := next()
		for _, name := range scope {
			at := Effect{Namespace: name}
			if more && e.Namespace == name {
				at = e
				e, more = next()
			}
			at.Labels = labelChanges(t, name)
			if (len(at.Labels) > 0 || len(at.Writes) > 0) && !yield(at) {
				return
			}
		}
	}
}

func labelChanges(t *tree.Tree, name string) []hnc.PlannedLabel {
	var changed []hnc.PlannedLabel
	for key, value := range namespacestate.LabelChanges(t, name) {
		if _, ok := hnc.TreeLabelAncestor(key); ok {
			changed = append(changed, hnc.PlannedLabel{Key: key, Before: t.Namespace(name).Labels[key], After: ptr.Deref(value, "")})
		}
	}
	slices.SortFunc(changed, func(a, b hnc.PlannedLabel) int { return strings.Compare(a.Key, b.Key) })
	return changed
}

// Effects returns the propagator's writes in the namespaces for all indexed kinds, without namespaces that need none.
// They are computed lazily because there can be many more writes than objects.
func Effects(t *tree.Tree, indexes []*copies.Index, scope []string) iter.Seq[Effect] {
	return func(yield func(Effect) bool) {
		for _, name := range scope {
			if t.Halted(name) {
				continue
			}
			e := Effect{Namespace: name}
			d := namespacestate.Destination(t, name)
			for _, index := range indexes {
				removals, writes := index.DecideAll(d)
				e.Writes = append(append(e.Writes, removals...), writes...)
				e.Writes = slices.DeleteFunc(e.Writes, func(w copies.Write) bool { return w.Verb == copies.Wait })
			}
			if len(e.Writes) > 0 && !yield(e) {
				return
			}
		}
	}
}

// Deletion returns the effects of deleting a namespace. Sub-namespaces are deleted with it if cascading deletion is
// allowed; all other children keep their copies and are orphaned.
func Deletion(t *tree.Tree, name string) []Effect {
	effects := []Effect{{Namespace: name, Fate: hnc.FateDeleted}}
	known := sets.New(name)
	for i := 0; i < len(effects); i++ {
		if effects[i].Fate != hnc.FateDeleted {
			continue
		}
		at := effects[i].Namespace
		for _, child := range t.Children(at) {
			fate := hnc.FateOrphaned
			if t.CascadingAllowed(at) && t.Namespace(child).SubnamespaceOf == at {
				fate = hnc.FateDeleted
			}
			if !known.Has(child) {
				known.Insert(child)
				effects = append(effects, Effect{Namespace: child, Fate: fate})
			}
		}
	}
	return effects
}
