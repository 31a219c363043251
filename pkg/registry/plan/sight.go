package plan

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/plan"
)

// sight is what one requester may see of a plan.
type sight struct {
	*made
	planner *Planner
	rights  map[right]bool
}

// right is a verb on a resource in a namespace, "" for all, or on the object of a name in it.
type right struct {
	verb            string
	resource        schema.GroupResource
	subresource     string
	namespace, name string
}

func (p *Planner) sight(m *made) *sight { return &sight{m, p, map[right]bool{}} }

// may says whether the requester has a right, in the namespace or everywhere.
func (s *sight) may(ctx context.Context, verb string, resource schema.GroupResource, namespace string) bool {
	return s.has(ctx, right{verb: verb, resource: resource}) || s.has(ctx, right{verb: verb, resource: resource, namespace: namespace})
}

// has asks for a right once.
func (s *sight) has(ctx context.Context, r right) bool {
	allowed, asked := s.rights[r]
	if !asked {
		allowed = s.planner.may(ctx, r)
		s.rights[r] = allowed
	}
	return allowed
}

// ask asks for the rights to list the written kinds in the namespaces of the effects, several at a time.
func (s *sight) ask(ctx context.Context, effects []plan.Effect) {
	missing := sets.New[right]()
	for _, e := range effects {
		for _, w := range e.Writes {
			everywhere := right{verb: "list", resource: w.Kind.GroupResource()}
			r := everywhere
			r.namespace = w.Namespace
			if _, asked := s.rights[r]; !asked && !s.has(ctx, everywhere) {
				missing.Insert(r)
			}
		}
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atATime)
	for r := range missing {
		group.Go(func() error {
			allowed := s.planner.may(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			s.rights[r] = allowed
			return nil
		})
	}
	_ = group.Wait() // none of them fails
}

// knows says whether the requester may know of a namespace: by the right to read the tree of the one that is asked about, or the namespace.
func (s *sight) knows(ctx context.Context, namespace string) bool {
	return namespace == s.asked ||
		s.has(ctx, right{verb: "get", resource: hnc.Resource("hierarchies"), subresource: "tree", namespace: s.asked, name: hnc.Singleton}) ||
		s.has(ctx, right{verb: "get", resource: schema.GroupResource{Resource: "namespaces"}, namespace: namespace, name: namespace})
}

// visible returns what the requester may know of an effect; nothing may be left.
func (s *sight) visible(ctx context.Context, e plan.Effect) (plan.Effect, bool) {
	if !s.knows(ctx, e.Namespace) {
		return e, false
	}
	e.Writes = slices.DeleteFunc(e.Writes, func(w copies.Write) bool { return !s.sees(ctx, w) })
	return e, e.Fate != "" || len(e.Writes) > 0
}

// hidden returns the kinds that the requester may not list in the namespace that is asked about. It depends on nothing but rights.
func (s *sight) hidden(ctx context.Context) []hnc.HiddenKind {
	var kinds []hnc.HiddenKind
	for _, index := range s.indexes {
		if resource := index.Kind.GroupResource(); !s.may(ctx, "list", resource, s.asked) {
			kinds = append(kinds, hnc.HiddenKind{Group: resource.Group, Resource: resource.Resource})
		}
	}
	return kinds
}

// sees says whether the requester may know of the objects of a write: where it is made, and where the object comes from. One that comes from
// further up is known to who may list the copies of it in the namespace near.
func (s *sight) sees(ctx context.Context, w copies.Write) bool {
	resource := w.Kind.GroupResource()
	if !s.may(ctx, "list", resource, w.Namespace) {
		return false
	}
	if w.Source == nil || s.may(ctx, "list", resource, w.Source.Namespace) {
		return true
	}
	return s.near != "" && s.may(ctx, "list", resource, s.near) && s.index(w.Kind).Get(s.near, w.Name) != nil
}

func (s *sight) index(kind copies.Kind) *copies.Index {
	i := slices.IndexFunc(s.indexes, func(x *copies.Index) bool { return x.Kind == kind })
	return s.indexes[i]
}

// access tells which roles subjects gain and lose by what happens to RoleBindings.
func (s *sight) access(e plan.Effect) []hnc.PlannedAccess {
	bindings := copies.Kinds[1]
	touched := map[string]copies.Write{}
	var gained, lost []hnc.PlannedAccess
	for _, w := range e.Writes {
		if w.Kind != bindings || w.Verb == copies.Keep {
			continue
		}
		touched[w.Name] = w
		if w.Present != nil {
			lost = s.grantedBy(lost, w.Present, hnc.AccessLost)
		}
		if w.Source != nil {
			gained = s.grantedBy(gained, w.Source, hnc.AccessGained)
		}
	}
	if len(touched) == 0 {
		return nil
	}
	// What stays, and what is lost, is not gained; what stays or is gained is not lost.
	var stays []hnc.PlannedAccess
	for o := range s.index(bindings).In(e.Namespace) {
		if _, ok := touched[o.Name]; !ok {
			stays = s.grantedBy(stays, o, "")
		}
	}
	without := func(list []hnc.PlannedAccess, others ...[]hnc.PlannedAccess) []hnc.PlannedAccess {
		return slices.DeleteFunc(slices.Clone(list), func(a hnc.PlannedAccess) bool {
			return slices.ContainsFunc(slices.Concat(others...), func(o hnc.PlannedAccess) bool {
				o.Change = a.Change
				return o == a
			})
		})
	}
	return append(without(lost, stays, gained), without(gained, stays, lost)...)
}

// grantedBy adds what a RoleBinding grants to the list, each once.
func (s *sight) grantedBy(list []hnc.PlannedAccess, o *copies.Object, change hnc.AccessChange) []hnc.PlannedAccess {
	g := s.grants[o.UID]
	for _, subject := range g.subjects {
		a := hnc.PlannedAccess{Change: change, Kind: subject.Kind, Name: subject.Name, RoleKind: g.role.Kind, Role: g.role.Name}
		if subject.Kind == rbacv1.ServiceAccountKind {
			a.Namespace = subject.Namespace
		}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}
