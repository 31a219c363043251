package cache

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// Kind is a propagated kind and its objects. It keeps its number, by which work names it, when it is not watched any
// more.
type Kind struct {
	// Index holds the objects. It is a new one each time that the kind is watched: a watch that was stopped finds it
	// replaced.
	Index *copies.Index
	// Policies say how the sources are propagated.
	Policies modes.Policies
	// Synced reports that the index is complete, and that of the Roles which RoleBindings need. Kinds that are not
	// synced are skipped.
	Synced bool
	// listed reports that the index is complete.
	listed bool
	// ReadError says why the objects can't be read, "" if they can.
	ReadError string

	// policyOf remembers policies by namespace; it is nil while the same one applies to all.
	policyOf *sync.Map
	// stop ends the watch; it is nil while there is none.
	stop context.CancelFunc
	// resolved is called, maybe more than once, when it is known whether the objects can be read.
	resolved func()
}

// Watched reports whether the objects of the kind are watched.
func (k *Kind) Watched() bool { return k.stop != nil }

// Kind returns the kind of that number.
func (s *State) Kind(kind int) *Kind { return s.kinds[kind] }

// Kinds returns all kinds by their numbers.
func (s *State) Kinds() []*Kind { return s.kinds }

// KindOf returns the number of a kind, and whether it was ever watched.
func (s *State) KindOf(resource schema.GroupResource) (kind int, known bool) {
	kind, known = s.byResource[resource]
	return kind, known
}

// Propagated reports whether objects of a kind are propagated from any namespace of a chain.
func (s *State) Propagated(resource schema.GroupResource, chain []string) bool {
	kind, known := s.byResource[resource]
	return known && s.kinds[kind].Watched() && s.kinds[kind].Policies.CopiesFrom(chain)
}

// register returns the number of a kind, a new one if it is new.
func (s *State) register(resource schema.GroupResource) int {
	kind, ok := s.byResource[resource]
	if !ok {
		kind = len(s.kinds)
		s.byResource[resource] = kind
		s.kinds = append(s.kinds, &Kind{Index: copies.NewIndex(copies.Kind{GroupVersionResource: resource.WithVersion("")})})
	}
	return kind
}

// SetKinds makes the watched kinds the wanted ones, with their policies, until the context ends. It is called with the
// state locked by Update.
func (c *Cache) SetKinds(ctx context.Context, s *State, wanted []kinds.WithPolicies) {
	c.setKinds(ctx, s, wanted, !s.configured)
	s.configured = true
	c.kindsApplied()
}

// setKinds does so. If first is set, the first writes wait for the first lists of kinds that are new.
func (c *Cache) setKinds(ctx context.Context, s *State, wanted []kinds.WithPolicies, first bool) {
	keep := map[int]bool{}
	for _, w := range wanted {
		kind := s.register(w.Kind.GroupResource())
		k := s.kinds[kind]
		if w.Ignored() {
			continue
		}
		keep[kind] = true
		if k.Watched() && k.Index.Kind != w.Kind {
			c.stopKind(s, kind)
		}
		if !k.Watched() {
			k.Index = copies.NewIndex(w.Kind)
			s.setPolicies(k, w.Policies)
			c.watchKind(ctx, s, kind, first)
			continue
		}
		s.updatePolicies(kind, w.Policies)
	}
	for kind, k := range s.kinds {
		if !keep[kind] && k.Watched() {
			c.stopKind(s, kind)
		}
	}
	s.linkRoles()
}

// linkRoles has the index of RoleBindings refer to that of Roles. RoleBindings are skipped until the Roles are listed.
func (s *State) linkRoles() {
	roles, bindings := s.enforced(copies.Roles), s.enforced(copies.RoleBindings)
	if roles != nil && bindings != nil && bindings.Index.Roles != roles.Index {
		bindings.Index.Roles = roles.Index
		bindings.Synced = bindings.listed && roles.listed
	}
}

// enforced returns one of the kinds that are always propagated, nil if it is not watched yet.
func (s *State) enforced(kind copies.Kind) *Kind {
	if at, known := s.byResource[kind.GroupResource()]; known {
		return s.kinds[at]
	}
	return nil
}

// stopKind ends the watch of a kind and forgets its objects.
func (c *Cache) stopKind(s *State, kind int) {
	k := s.kinds[kind]
	for o := range k.Index.All() {
		s.recordHeld(kind, o, nil)
		s.recordUncopied(kind, o, nil)
	}
	k.stop()
	k.resolved()
	delete(s.versions, k.Index.Kind.GroupResource().String())
	*k = Kind{Index: copies.NewIndex(k.Index.Kind)}
	for _, h := range s.handlers {
		if h.KindStopped != nil {
			h.KindStopped(s, kind)
		}
	}
}

// kindListed records that the index of a kind is complete. Without the Roles, copies of RoleBindings that refer to them
// would be removed.
func (s *State) kindListed(kind int) {
	s.kinds[kind].resolved()
	s.kinds[kind].listed = true
	for kind, k := range s.kinds {
		if k.listed && !k.Synced && (k.Index.Roles == nil || s.enforced(copies.Roles).listed) {
			k.Synced = true
			s.kindChanged(kind)
		}
	}
}

func (s *State) kindChanged(kind int) {
	if !s.kinds[kind].Synced {
		return
	}
	for _, h := range s.handlers {
		if h.KindChanged != nil {
			h.KindChanged(s, kind)
		}
	}
}

// setReadError records why the objects of a kind can't be read, "" if they can.
func (s *State) setReadError(kind int, index *copies.Index, text string) {
	k := s.kinds[kind]
	if k.Index != index || k.ReadError == text {
		return
	}
	k.ReadError = text
	if text != "" {
		k.resolved()
	}
	for _, h := range s.handlers {
		if h.KindStatusChanged != nil {
			h.KindStatusChanged(s, kind)
		}
	}
}

// setPolicies sets the policies for the sources of a kind.
func (s *State) setPolicies(k *Kind, policies modes.Policies) {
	k.Policies, k.Index.Policy = policies, policies.Cluster
	k.policyOf, k.Index.PolicyOf = nil, nil
	if len(policies.Trees) == 0 {
		return
	}
	known := &sync.Map{}
	k.policyOf = known
	k.Index.PolicyOf = func(namespace string) modes.Policy {
		if policy, ok := known.Load(namespace); ok {
			return policy.(modes.Policy)
		}
		policy := policies.Of(s.Tree.Chain(namespace))
		known.Store(namespace, policy)
		return policy
	}
}

// updatePolicies sets the policies of a kind that has some, and notifies the handlers of a change.
func (s *State) updatePolicies(kind int, policies modes.Policies) {
	k := s.kinds[kind]
	old := k.Policies
	if old.Cluster == policies.Cluster && maps.Equal(old.Trees, policies.Trees) {
		return
	}
	s.setPolicies(k, policies)
	if old.Cluster != policies.Cluster {
		s.kindChanged(kind)
		return
	}
	if !k.Synced {
		return
	}
	for _, h := range s.handlers {
		if h.PoliciesChanged != nil {
			h.PoliciesChanged(s, kind, old)
		}
	}
}

// PoliciesByTree reports whether other policies apply to sources of the kind in some trees.
func (k *Kind) PoliciesByTree() bool { return k.policyOf != nil }

// forgetPolicies forgets the policies of namespaces whose ancestors may have changed.
func (s *State) forgetPolicies(moved []string) {
	for _, k := range s.kinds {
		if k.policyOf == nil {
			continue
		}
		for _, name := range moved {
			k.policyOf.Delete(name)
		}
	}
}
