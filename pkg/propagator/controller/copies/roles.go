package copies

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/desired"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// A RoleBinding that refers to a Role is copied only to where that Role is the one of its own namespace; package
// pkg/copies decides that. So its copies are evaluated again when a Role changes.

// bindings returns the kind RoleBinding and its number, nil while it is skipped.
func bindings(s *cache.State) (int, *cache.Kind) {
	kind, known := s.KindOf(copies.RoleBindings.GroupResource())
	if !known || !s.Kind(kind).Synced {
		return 0, nil
	}
	return kind, s.Kind(kind)
}

// roleChanged enqueues what a changed Role affects in its own namespace, and the RoleBindings there that refer to it.
// What a source affects in descendants is up to syncSource, and to the changes of its copies.
func (c *Controller) roleChanged(s *cache.State, old, o *copies.Object) {
	either := o
	if either == nil {
		either = old
	}
	kind, k := bindings(s)
	if k == nil || (old != nil && o != nil && old.Copy && o.Copy && old.InheritedFrom == o.InheritedFrom) {
		return
	}
	for _, key := range boundCopies(s, either.Namespace, either.Name) {
		c.Queue.Add(key)
	}
	if s.Tree.HasChildren(either.Namespace) {
		for b := range k.Index.Bindings(either.Namespace, either.Name) {
			c.sourceChanged(kind, b.Namespace, b.Name)
		}
	}
}

// boundCopies returns the keys of the copies in a namespace that refer to a Role, and have to be written or removed.
func boundCopies(s *cache.State, namespace, role string) (keys []queue.Key) {
	kind, k := bindings(s)
	if k == nil {
		return nil
	}
	for _, ancestor := range s.Tree.Ancestors(namespace) {
		for b := range k.Index.Bindings(ancestor, role) {
			if decide(s, kind, namespace, b.Name) != nil {
				keys = append(keys, queue.Key{Class: queue.Copy, Kind: kind, Namespace: namespace, Name: b.Name})
			}
		}
	}
	return keys
}

// withheldFrom returns the first of the namespaces to which a source is not copied only because of the Role that it
// refers to, "" if there is none.
func withheldFrom(s *cache.State, kind int, source *copies.Object, namespaces []string) string {
	if source.BindsRole() == "" || !s.Kind(kind).Synced {
		return ""
	}
	for _, namespace := range namespaces {
		if !s.Tree.Frozen(namespace) && s.Kind(kind).Index.Withheld(source, desired.Destination(s.Tree, namespace)) {
			return namespace
		}
	}
	return ""
}
