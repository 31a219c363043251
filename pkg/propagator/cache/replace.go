package cache

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// The functions of this file enter whole lists. A record that is newer than the list is the result of our own write,
// and stays although the list lacks it.

func (s *State) replaceNamespaces(list []*tree.Namespace, newer func(string) bool) {
	listed := sets.New[string]()
	for _, ns := range list {
		listed.Insert(ns.Name)
		s.setNamespace(ns)
	}
	for _, name := range s.Tree.Names() {
		if ns := s.Tree.Namespace(name); !listed.Has(name) && !newer(ns.ResourceVersion) {
			s.affect(s.Tree.DeleteNamespace(name, ns.UID))
		}
	}
}

func (s *State) replaceHierarchies(list []*tree.Hierarchy, newer func(string) bool) {
	listed := sets.New[string]()
	for _, h := range list {
		listed.Insert(h.Namespace)
		s.affect(s.Tree.SetHierarchy(h))
	}
	for _, name := range s.Tree.HierarchyNames() {
		if h := s.Tree.HierarchyRecord(name); !listed.Has(name) && !newer(h.ResourceVersion) {
			s.affect(s.Tree.DeleteHierarchy(name, h.UID))
		}
	}
}

func (s *State) replaceSubnamespaces(list []*tree.Subnamespace, newer func(string) bool) {
	listed := sets.New[tree.Key]()
	for _, sub := range list {
		listed.Insert(sub.Key)
		s.affect(s.Tree.SetSubnamespace(sub))
	}
	for _, key := range s.Tree.SubnamespaceKeys() {
		if sub := s.Tree.SubnamespaceRecord(key); !listed.Has(key) && !newer(sub.ResourceVersion) {
			s.affect(s.Tree.DeleteSubnamespace(key, sub.UID))
		}
	}
}

func (s *State) replaceConfigurations(list []*v1beta1.HNCConfiguration, newer func(string) bool) {
	for _, c := range list {
		s.setConfiguration(c)
	}
	if len(list) == 0 && s.Configuration != nil && !newer(s.Configuration.ResourceVersion) {
		s.setConfiguration(nil)
	}
}

func (s *State) replaceObjects(kind int, list []*copies.Object, newer func(string) bool) {
	index := s.kinds[kind].Index
	type name struct{ namespace, name string }
	var listed sets.Set[name]
	// Of the first list, which is the longest, nothing can be missing.
	known := !index.Empty()
	if known {
		listed = make(sets.Set[name], len(list))
	}
	for _, o := range list {
		if known {
			listed.Insert(name{o.Namespace, o.Name})
		}
		if old, changed := index.Set(o); changed {
			s.objectChanged(kind, old, index.Get(o.Namespace, o.Name))
		}
	}
	if !known {
		return
	}
	var gone []*copies.Object
	for o := range index.All() {
		if !listed.Has(name{o.Namespace, o.Name}) && !newer(o.ResourceVersion) {
			gone = append(gone, o)
		}
	}
	for _, o := range gone {
		index.Delete(o.Namespace, o.Name, o.UID)
		s.objectChanged(kind, o, nil)
	}
}
