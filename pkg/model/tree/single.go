package tree

// ParentBy returns the effective parent of a namespace according to other records than those of the tree: its
// Hierarchy, and its Subnamespace in the namespace parent; both may be nil. The namespaces themselves are those of the
// tree, whose rules apply.
func (t *Tree) ParentBy(name, parent string, h *Hierarchy, s *Subnamespace) string {
	single := New(t.rules)
	for _, known := range []*Namespace{t.Namespace(name), t.Namespace(parent)} {
		if known != nil {
			ns := *known
			single.SetNamespace(&ns)
		}
	}
	if h != nil {
		single.SetHierarchy(h)
	}
	if s != nil {
		single.SetSubnamespace(s)
	}
	return single.Parent(name)
}
