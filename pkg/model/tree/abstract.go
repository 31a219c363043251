package tree

import (
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Abstract ancestors are names above the root of a tree that are not namespaces. The root and all its descendants have
// tree labels for them.

// AbstractAncestors returns the abstract ancestors that the effective Hierarchy of a namespace specifies, the nearest
// first; nil if there are none. A namespace that has some is always a root. It was not external when they were set, and
// does not escape them by becoming external.
func (f *facts) AbstractAncestors(name string) []string {
	if f.Excluded(name) {
		return nil
	}
	if h := f.Hierarchy(name); h != nil && h.Parent == "" {
		return h.Abstract
	}
	return nil
}

// SharedNames returns the abstract ancestors of a namespace that are the names of namespaces as well, without having
// been allowed to.
func (f *facts) SharedNames(name string) []string {
	if h := f.Hierarchy(name); h == nil || h.SharesNames {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.AbstractAncestors(name)), func(abstract string) bool {
		ns := f.namespaces[abstract]
		return ns == nil || ns.Terminating
	})
}

// below returns the namespaces whose Hierarchies name an abstract ancestor.
func (f *facts) below(abstract string) []string { return f.abstract[abstract].UnsortedList() }

// abstractChanged records which abstract ancestors the Hierarchy of a namespace names.
func (f *facts) abstractChanged(namespace string, old, h *Hierarchy) {
	if old != nil {
		for _, name := range old.Abstract {
			remove(f.abstract, name, namespace)
		}
	}
	if h != nil {
		for _, name := range h.Abstract {
			insert(f.abstract, name, namespace)
		}
	}
}

// LabeledParent returns the namespace that is the parent by the tree labels, "" if they name none.
func (n *Namespace) LabeledParent() string { return hnc.LabeledParent(n.Name, n.Labels, n.Abstract) }

// isLabeledChild reports whether the tree labels of the namespace make it a child of parent.
func (n *Namespace) isLabeledChild(parent string) bool {
	return hnc.IsLabeledChild(n.Labels, n.Abstract, parent)
}

// HasAbstractParent reports whether the tree labels of the namespace make it the topmost one below abstract ancestors.
func (n *Namespace) HasAbstractParent() bool { return hnc.HasAbstractParent(n.Labels, n.Abstract) }
