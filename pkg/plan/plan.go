// Package plan decides what a change would do before it is made: on a picture of the tree and of the objects as they are, by the very functions
// by which the propagator decides afterwards. It has no clients.
package plan

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Effect is what happens in one namespace.
type Effect struct {
	Namespace string
	Fate      hnc.PlannedFate
	// Writes are what is removed, then what is written, of one kind after the other and in the order of the names.
	Writes []copies.Write
}

// Scope returns a namespace and all below it, parents before their children.
func Scope(t *tree.Tree, name string) []string {
	return append([]string{name}, t.Descendants(name)...)
}

// Move changes the tree so that the namespace has the parent, "" for none.
func Move(t *tree.Tree, name, parent string) {
	h := tree.Hierarchy{Namespace: name}
	if present := t.HierarchyRecord(name); present != nil {
		h = *present
	}
	if ns := t.Namespace(name); ns != nil {
		h.Owner = ns.UID
	}
	// A version that is none is newer than any.
	h.Parent, h.ResourceVersion = parent, "planned"
	t.SetHierarchy(&h)
}

// Effects returns what the propagator would do in the namespaces, for all kinds of which there is an index. Those in which it would do
// nothing are left out. Each is computed when it is asked for: together they can be many more than there are objects.
func Effects(t *tree.Tree, indexes []*copies.Index, scope []string) iter.Seq[Effect] {
	return func(yield func(Effect) bool) {
		for _, name := range scope {
			if t.Frozen(name) {
				continue
			}
			e := Effect{Namespace: name}
			d := namespaces.Inheriting(t, name)
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

// Deletion returns what becomes of a namespace that is deleted, and of its descendants: sub-namespaces go with it if cascading deletion is
// allowed; all others stay, without their parent, and with what they have inherited.
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
			if t.CascadingAllowed(at) && goesWith(t, child, at) {
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

// goesWith says whether a Subnamespace stands for the child in its parent.
func goesWith(t *tree.Tree, child, parent string) bool {
	ns := t.Namespace(child)
	return ns.SubnamespaceOf == parent && t.Subnamespace(tree.Key{Parent: parent, Name: child}) != nil && t.Parent(child) == parent
}
