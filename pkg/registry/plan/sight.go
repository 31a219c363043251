package plan

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// right is a verb on a resource in a namespace.
type right struct {
	verb, namespace string
	resource        schema.GroupResource
}

func (p *Planner) sight(m *made) *sight { return &sight{m, p, map[right]bool{}} }

// may says whether the requester has a right, in the namespace or everywhere.
func (s *sight) may(ctx context.Context, verb string, resource schema.GroupResource, namespace string) bool {
	for _, at := range []string{"", namespace} {
		r := right{verb, at, resource}
		allowed, asked := s.rights[r]
		if !asked {
			allowed = s.planner.may(ctx, verb, resource, at, "")
			s.rights[r] = allowed
		}
		if allowed {
			return true
		}
	}
	return false
}

// sees says whether the requester may know of the objects of a write: where there is one, and where it comes from. One that comes from
// further up is known to who may list the copies of it in the namespace near.
func (s *sight) sees(ctx context.Context, w copies.Write) bool {
	resource := w.Kind.GroupResource()
	if w.Present != nil && !s.may(ctx, "list", resource, w.Namespace) {
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

// access tells which roles subjects gain and lose by what happens to the RoleBindings that the requester may see.
func (s *sight) access(ctx context.Context, e plan.Effect) []hnc.PlannedAccess {
	bindings := copies.Kinds[1]
	touched := map[string]copies.Write{}
	var gained, lost []hnc.PlannedAccess
	for _, w := range e.Writes {
		if w.Kind != bindings || w.Verb == copies.Keep || !s.sees(ctx, w) {
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
