package hierarchyplan

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// maxPermissions is how many permissions a plan remembers, in about 4 MiB, besides those of the last namespaces. There is
// one for each kind in each namespace.
const maxPermissions = 16 << 10

// visibility is what one requester may see of a plan. It caches the requester's permissions.
type visibility struct {
	*prediction
	planner *Planner
	cache   map[permission]bool
}

// permission is a verb on a resource in a namespace ("" for all), or on one named object.
type permission struct {
	verb            string
	resource        schema.GroupResource
	subresource     string
	namespace, name string
}

func (p *Planner) visibility(pr *prediction) *visibility {
	return &visibility{pr, p, map[permission]bool{}}
}

// allowed reports whether the requester has a permission in the namespace or in all namespaces.
func (v *visibility) allowed(ctx context.Context, verb string, resource schema.GroupResource, namespace string) bool {
	return v.check(ctx, permission{verb: verb, resource: resource}) || v.check(ctx, permission{verb: verb, resource: resource, namespace: namespace})
}

// check reviews a permission once.
func (v *visibility) check(ctx context.Context, r permission) bool {
	allowed, cached := v.cache[r]
	if !cached {
		allowed = v.planner.allowed(ctx, r)
		v.cache[r] = allowed
	}
	return allowed
}

// prefetch reviews the permissions to list the written kinds in the namespaces of the effects, several at a time. If the
// cache is full, it is emptied first: those of earlier effects are seldom used again.
func (v *visibility) prefetch(ctx context.Context, effects []plan.Effect) {
	if len(v.cache) >= maxPermissions {
		clear(v.cache)
	}
	missing := sets.New[permission]()
	for _, e := range effects {
		for _, w := range e.Writes {
			inCluster := permission{verb: "list", resource: w.Kind.GroupResource()}
			r := inCluster
			r.namespace = w.Namespace
			if _, cached := v.cache[r]; !cached && !v.check(ctx, inCluster) {
				missing.Insert(r)
			}
		}
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(maxParallel)
	for r := range missing {
		group.Go(func() error {
			allowed := v.planner.allowed(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			v.cache[r] = allowed
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
}

// seesNamespace reports whether the requester may see a namespace: by permission to get the tree of the planned
// namespace, or the namespace itself.
func (v *visibility) seesNamespace(ctx context.Context, namespace string) bool {
	return namespace == v.namespace ||
		v.check(ctx, permission{verb: "get", resource: hnc.Resource("hierarchies"), subresource: "tree", namespace: v.namespace, name: hnc.Singleton}) ||
		v.check(ctx, permission{verb: "get", resource: schema.GroupResource{Resource: "namespaces"}, namespace: namespace, name: namespace})
}

// filter returns what the requester may see of an effect, and whether anything is left.
func (v *visibility) filter(ctx context.Context, e plan.Effect) (plan.Effect, bool) {
	if !v.seesNamespace(ctx, e.Namespace) {
		return e, false
	}
	e.Writes = slices.DeleteFunc(e.Writes, func(w copies.Write) bool { return !v.seesWrite(ctx, w) })
	return e, e.Fate != "" || len(e.Writes)+len(e.Labels) > 0
}

// hiddenKinds returns the kinds that the requester is not allowed to list in the planned namespace. It depends on
// permissions only.
func (v *visibility) hiddenKinds(ctx context.Context) []hnc.HiddenKind {
	var kinds []hnc.HiddenKind
	for _, index := range v.indexes {
		if resource := index.Kind.GroupResource(); !v.allowed(ctx, "list", resource, v.namespace) {
			kinds = append(kinds, hnc.HiddenKind{Group: resource.Group, Resource: resource.Resource})
		}
	}
	return kinds
}

// seesWrite reports whether the requester may see the objects of a write, both at its destination and at its source.
// A source further up is visible to requesters allowed to list its copies in the parent.
func (v *visibility) seesWrite(ctx context.Context, w copies.Write) bool {
	resource := w.Kind.GroupResource()
	if !v.allowed(ctx, "list", resource, w.Namespace) {
		return false
	}
	if w.Source == nil || v.allowed(ctx, "list", resource, w.Source.Namespace) {
		return true
	}
	return v.parent != "" && v.allowed(ctx, "list", resource, v.parent) && v.index(w.Kind).Get(v.parent, w.Name) != nil
}

// accessChanges returns the roles that subjects gain and lose by changes of RoleBindings. It ends early if ctx does.
func (v *visibility) accessChanges(ctx context.Context, e plan.Effect) []hnc.PlannedAccess {
	bindings := copies.RoleBindings
	touched := sets.New[string]()
	var gained, lost grants
	for _, w := range e.Writes {
		if w.Kind != bindings || w.Verb == copies.Keep {
			continue
		}
		touched.Insert(w.Name)
		if w.Present != nil {
			lost.add(v.grants[w.Present.UID])
		}
		if w.Source != nil {
			gained.add(v.grants[w.Source.UID])
		}
	}
	if len(touched) == 0 {
		return nil
	}
	var stays grants
	for o := range v.index(bindings).In(e.Namespace) {
		if ctx.Err() != nil {
			return nil
		}
		if !touched.Has(o.Name) {
			stays.add(v.grants[o.UID])
		}
	}
	// Nothing is gained that remains or is lost elsewhere, and nothing is lost that remains or is gained elsewhere.
	return append(lost.without(hnc.AccessLost, &stays, &gained), gained.without(hnc.AccessGained, &stays, &lost)...)
}

// grants are roles of subjects, each once, in the order of their RoleBindings, with the keys of their names.
type grants struct {
	known sets.Set[hnc.PlannedAccess]
	list  []hnc.PlannedAccess
}

// add adds what a RoleBinding grants.
func (g *grants) add(binding grant) {
	if g.known == nil {
		g.known = sets.New[hnc.PlannedAccess]()
	}
	for _, subject := range binding.subjects {
		a := hnc.PlannedAccess{Kind: subject.Kind, Name: subject.Name, RoleKind: binding.role.Kind, Role: binding.role.Name}
		if subject.Kind == rbacv1.ServiceAccountKind {
			a.Namespace = subject.Namespace
		}
		if !g.known.Has(a) {
			g.known.Insert(a)
			g.list = append(g.list, a)
		}
	}
}

// without returns the grants that none of the others contains, as changes of access, with shortened names.
func (g *grants) without(change hnc.AccessChange, others ...*grants) []hnc.PlannedAccess {
	var list []hnc.PlannedAccess
	for _, a := range g.list {
		if !slices.ContainsFunc(others, func(o *grants) bool { return o.known.Has(a) }) {
			a.Change, a.Namespace, a.Name, a.Role = change, names.Shorten(a.Namespace), names.Shorten(a.Name), names.Shorten(a.Role)
			list = append(list, a)
		}
	}
	return list
}
