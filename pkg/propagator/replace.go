package propagator

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// The functions of this file enter whole lists in the picture, with the lock held. A record that is newer than the list
// was entered by ourselves, and stays although the list lacks it.

func (p *Propagator) replaceNamespaces(list []*tree.Namespace, newer func(string) bool) {
	listed := sets.New[string]()
	for _, ns := range list {
		listed.Insert(ns.Name)
		p.setNamespace(ns)
	}
	for _, name := range p.tree.Names() {
		if ns := p.tree.Namespace(name); !listed.Has(name) && !newer(ns.ResourceVersion) {
			p.affect(p.tree.DeleteNamespace(name, ns.UID))
		}
	}
}

func (p *Propagator) replaceHierarchies(list []*tree.Hierarchy, newer func(string) bool) {
	listed := sets.New[string]()
	for _, h := range list {
		listed.Insert(h.Namespace)
		p.affect(p.tree.SetHierarchy(h))
	}
	for _, name := range p.tree.HierarchyNames() {
		if h := p.tree.HierarchyRecord(name); !listed.Has(name) && !newer(h.ResourceVersion) {
			p.affect(p.tree.DeleteHierarchy(name, h.UID))
		}
	}
}

func (p *Propagator) replaceSubnamespaces(list []*tree.Subnamespace, newer func(string) bool) {
	listed := sets.New[tree.Key]()
	for _, s := range list {
		listed.Insert(s.Key)
		p.affect(p.tree.SetSubnamespace(s))
	}
	for _, key := range p.tree.SubnamespaceKeys() {
		if s := p.tree.SubnamespaceRecord(key); !listed.Has(key) && !newer(s.ResourceVersion) {
			p.affect(p.tree.DeleteSubnamespace(key, s.UID))
		}
	}
}

func (p *Propagator) replaceConfigurations(list []*v1beta1.HNCConfiguration, newer func(string) bool) {
	for _, c := range list {
		p.setConfiguration(c)
	}
	if len(list) == 0 && p.configuration != nil && !newer(p.configuration.ResourceVersion) {
		p.setConfiguration(nil)
	}
}

func (p *Propagator) replaceObjects(kind int, list []*copies.Object, newer func(string) bool) {
	index := p.kinds[kind].index
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
			p.observe(kind, old, index.Get(o.Namespace, o.Name))
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
		p.observe(kind, o, nil)
	}
}
