package hierarchyplan

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// records are what a tree consists of, and where to look for it. The methods return nil for what does not exist.
type records interface {
	namespace(name string) (*tree.Namespace, error)
	hierarchy(namespace string) (*tree.Hierarchy, error)
	subnamespace(key tree.Key) (*tree.Subnamespace, error)
	subnamespacesIn(namespace string) ([]*tree.Subnamespace, error)
	// edgesAbove returns the ancestors of a name according to the edges, and edgesBelow its children: a superset of
	// those by Hierarchies.
	edgesAbove(name string) []string
	edgesBelow(name string) []string
	// terminatingBelow returns the terminating namespaces whose labels make them children of a name.
	terminatingBelow(name string) ([]string, error)
}

// surroundings is a tree of which only a part is known: some namespaces with their ancestors, and all that is below one
// of them.
type surroundings struct {
	*tree.Tree
	records
	// known are the namespaces whose own records, and those that determine their parents, are in the tree.
	known sets.Set[string]
}

// readSurroundings returns the part of the trees that a change around a namespace concerns: its descendants, and the
// ancestors of all those and of the other namespaces. What it reads grows with these, not with the cluster.
func readSurroundings(r records, rules managedkeys.Rules, around string, others ...string) (*tree.Tree, error) {
	s := &surroundings{Tree: tree.New(rules), records: r, known: sets.New[string]()}
	for _, name := range append(others, around) {
		if err := s.readWithAncestors(name); err != nil {
			return nil, err
		}
	}
	expanded := sets.New(around)
	for open := []string{around}; len(open) > 0; open = open[1:] {
		children, err := s.readChildren(open[0])
		if err != nil {
			return nil, err
		}
		for _, child := range children {
			if !expanded.Has(child) { // as a member of a cycle would be
				expanded.Insert(child)
				open = append(open, child)
			}
		}
	}
	return s.Tree, nil
}

// readChildren reads the namespaces that may be below a namespace, and returns those that are.
func (s *surroundings) readChildren(parent string) ([]string, error) {
	subnamespaces, err := s.subnamespacesIn(parent)
	if err != nil {
		return nil, err
	}
	terminating, err := s.terminatingBelow(parent)
	if err != nil {
		return nil, err
	}
	candidates := sets.New(append(terminating, s.edgesBelow(parent)...)...)
	for _, sub := range subnamespaces {
		s.SetSubnamespace(sub)
		candidates.Insert(sub.Name)
	}
	var children []string
	for _, child := range sets.List(candidates) {
		if err := s.readWithAncestors(child); err != nil {
			return nil, err
		}
		if s.Parent(child) == parent {
			children = append(children, child)
		}
	}
	return children, nil
}

// readWithAncestors reads what a namespace and its ancestors consist of.
func (s *surroundings) readWithAncestors(name string) error {
	for open := []string{name}; len(open) > 0; open = open[1:] {
		if at := open[0]; !s.known.Has(at) {
			s.known.Insert(at)
			parents, err := s.read(at)
			if err != nil {
				return err
			}
			open = append(open, parents...)
		}
	}
	return nil
}

// read reads the records that determine the parent of a namespace, and returns all namespaces that might be it.
func (s *surroundings) read(name string) ([]string, error) {
	parents := sets.New(s.edgesAbove(name)...)
	ns, err := s.namespace(name)
	if err != nil {
		return nil, err
	}
	if ns != nil {
		parents.Insert(ns.SubnamespaceOf, ns.LabeledParent())
		s.SetNamespace(ns)
	}
	h, err := s.hierarchy(name)
	if err != nil {
		return nil, err
	}
	if h != nil {
		parents.Insert(h.Parent)
		s.SetHierarchy(h)
	}
	parents.Delete("", name)
	for parent := range parents {
		key := tree.Key{Parent: parent, Name: name}
		if s.SubnamespaceRecord(key) != nil {
			continue
		}
		sub, err := s.subnamespace(key)
		if err != nil {
			return nil, err
		}
		if sub != nil {
			s.SetSubnamespace(sub)
		}
	}
	return sets.List(parents), nil
}
