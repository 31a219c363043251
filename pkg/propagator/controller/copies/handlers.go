package copies

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Handlers returns the handlers that enqueue what changes affect.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		TreeChanged: func(s *cache.State, affected tree.Affected) {
			if len(affected.Moved) > 0 {
				c.enqueuePolicies(s)
			}
			for _, name := range affected.Moved {
				c.Enqueue(name)
			}
		},
		NamespaceChanged: func(s *cache.State, old, ns *tree.Namespace) {
			if old == nil {
				return
			}
			selective := func(k *cache.Kind) bool { return k.Index.Selective() }
			relabeled := !maps.Equal(old.Labels, ns.Labels) && slices.ContainsFunc(s.Kinds(), selective)
			if relabeled || old.LimitsPending != "" && ns.LimitsPending == "" {
				c.enqueue(ns.Name)
			}
		},
		ObjectChanged:   c.objectChanged,
		KindChanged:     c.kindChanged,
		PoliciesChanged: c.policiesChanged,
		KindStopped: func(_ *cache.State, kind int) {
			c.failures.clearKind(kind)
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.kept, kind)
		},
	}
}

// Start enqueues what the cache holds when the propagator begins to lead, besides the namespaces that diverge.
func (c *Controller) Start(s *cache.State) {
	for kind := range s.Kinds() {
		c.enqueueNotable(s, kind)
	}
	c.enqueuePolicies(s)
}

// Enqueue asks to reconcile all copies in a namespace that may have moved: old copies are removed before new ones are
// written.
func (c *Controller) Enqueue(namespace string) {
	c.mu.Lock()
	c.moves++
	c.moving[namespace] = c.moves
	c.mu.Unlock()
	c.enqueue(namespace)
}

// Diverges reports whether there is anything to do about the copies in the namespace: to write or remove one, or to
// report why that is not done.
func (c *Controller) Diverges(s *cache.State, namespace string) bool {
	return inAnyKind(s, namespace, func(index *copies.Index, d copies.Destination) bool { return !index.Right(d) })
}

// Differs reports whether a copy in the namespace has to be written or removed.
func (c *Controller) Differs(s *cache.State, namespace string) bool {
	return inAnyKind(s, namespace, (*copies.Index).Writes)
}

func inAnyKind(s *cache.State, namespace string, holds func(*copies.Index, copies.Destination) bool) bool {
	if s.Tree.Halted(namespace) {
		return false
	}
	d := namespacestate.Destination(s.Tree, namespace)
	return slices.ContainsFunc(s.Kinds(), func(k *cache.Kind) bool { return k.Synced && holds(k.Index, d) })
}

func (c *Controller) objectChanged(s *cache.State, kind int, old, o *copies.Object) {
	either := cmp.Or(o, old)
	namespace, name := either.Namespace, either.Name
	if o == nil {
		c.mu.Lock()
		delete(c.kept[kind], old.UID)
		c.mu.Unlock()
	}
	bound := s.Kind(kind).Index.Kind == copies.Roles && !o.SameRole(old)
	if bound || (!o.SameCopies(old) && s.Tree.HasChildren(namespace)) || o.Notable(old) {
		c.sourceChanged(kind, namespace, name)
	}
	if o == nil && old.BindsRole() != "" {
		// The Role may have awaited its end.
		if roles, known := s.KindOf(copies.Roles.GroupResource()); known {
			if w := decide(s, roles, namespace, old.BindsRole()); w != nil {
				c.Queue.Add(keyOf(roles, w))
			}
		}
	}
	// Most changes are our own writes.
	if w := decide(s, kind, namespace, name); w != nil {
		c.Queue.Add(keyOf(kind, w))
	} else {
		c.failures.clear(kind, namespace, name)
	}
}

func (c *Controller) sourceChanged(kind int, namespace, name string) {
	key := queue.Key{Class: queue.Source, Kind: kind, Namespace: namespace, Name: name}
	c.changedAt.Add(key)
	c.Queue.Add(key)
}

// kindChanged enqueues everything when a kind is listed, or its policy for the whole cluster has changed.
func (c *Controller) kindChanged(s *cache.State, kind int) {
	for _, namespace := range s.Tree.Names() {
		c.enqueue(namespace)
	}
	c.enqueueNotable(s, kind)
}

// enqueueNotable enqueues the sources that events are emitted about.
func (c *Controller) enqueueNotable(s *cache.State, kind int) {
	for o := range s.Kind(kind).Index.All() {
		if o.Notable(nil) {
			c.sourceChanged(kind, o.Namespace, o.Name)
		}
	}
}

// policiesChanged enqueues the trees in which other policies apply to a kind than before.
func (c *Controller) policiesChanged(s *cache.State, kind int, old modes.Policies) {
	policies := s.Kind(kind).Policies
	for _, trees := range []map[string]modes.Policy{old.Trees, policies.Trees} {
		for namespace := range trees {
			before, had := old.Trees[namespace]
			if after, has := policies.Trees[namespace]; had == has && before == after {
				continue
			}
			for _, below := range s.Tree.Descendants(namespace) {
				c.enqueue(below)
			}
		}
	}
	c.Queue.AddAfter(queue.Key{Class: queue.OrphanedCopies, Kind: kind}, c.PolicyWindow)
}

// enqueuePolicies enqueues the kinds whose copies may have to go because another policy applies to their sources.
func (c *Controller) enqueuePolicies(s *cache.State) {
	for kind, k := range s.Kinds() {
		if k.PoliciesByTree() {
			c.Queue.AddAfter(queue.Key{Class: queue.OrphanedCopies, Kind: kind}, c.PolicyWindow)
		}
	}
}

// enqueueOrphaned enqueues the copies of a kind that are not below their source and have to be written or removed. No
// event follows when the policy for their source changes.
func (c *Controller) enqueueOrphaned(kind int) {
	var names []string
	c.Cache.Read(func(s *cache.State) { names = s.Tree.Names() })
	for len(names) > 0 {
		names = c.Cache.ReadSome(names, func(s *cache.State) func(string) {
			return func(namespace string) {
				chain, d := s.Tree.Chain(namespace), namespacestate.Destination(s.Tree, namespace)
				for o := range s.Kind(kind).Index.In(namespace) {
					if !o.Copy || slices.Contains(chain, o.InheritedFrom) {
						continue
					}
					if w := decideAt(s, kind, d, o.Name); w != nil {
						c.Queue.Add(keyOf(kind, w))
					}
				}
			}
		})
	}
}
