package copies

import (
	"errors"
	"slices"
	"strconv"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// A namespace may inherit any number of objects, and other trees wait while they are written. So its copies are written
// in turns, between which others have theirs. A pass is one try to write each of them, and evaluates all. If few could
// not be written, the next one tries only these until something changes, which may never happen.

const (
	// writesPerTurn is how many copies of a namespace are written in a turn, for each worker.
	writesPerTurn = 4
	// turnTime is how long a turn begins writes, besides the first for each worker. One that overwrites an object reads
	// all ancestors of its namespace.
	turnTime = time.Second
	// namesPerTurn is how many names are evaluated in a turn. For most of them there may be nothing to write any more.
	namesPerTurn = 1024
	// namesPerPlan and plannedNames are how many names the plans of one pass, and of all passes, hold.
	namesPerPlan = 4096
	plannedNames = 1 << 20
	// minPlanAge is how old a plan is before changes in its namespace make it outdated: each plan evaluates all copies.
	minPlanAge = time.Second
	// namesPerRepeat is how many names that could not be written are remembered for the next pass of a namespace.
	namesPerRepeat = 256
	// maxErrors is how many errors of a pass are kept. There may be one for each copy.
	maxErrors = 128
)

// stage is a part of a pass, which begins when the one before it has ended.
type stage int

const (
	removals stage = iota
	// restrictions are all copies but permissions, whose use LimitRanges and NetworkPolicies restrict.
	restrictions
	permissions
	// bound are RoleBindings that await the Roles that they refer to.
	bound
	stages
)

// name is the name of a copy of a kind, given by its number.
type name struct {
	kind int
	name string
}

// id is the form in which a set holds the name.
func (n name) id() string { return strconv.Itoa(n.kind) + "/" + n.name }

// item is one copy to write or to remove.
type item struct {
	copies.Write
	kind int
}

// plan holds the names of the copies that are to be written next, by stage.
type plan struct {
	names [stages][]name
	// partial is the first stage of which names may be missing.
	partial stage
	at      time.Time
}

// next returns the stage that has the next names, given the present one: what is revoked meanwhile does not wait for
// what is left to be written. complete says whether these are all names of the stage.
func (p *plan) next(present stage) (at stage, complete bool) {
	if len(p.names[removals]) > 0 {
		return removals, removals < p.partial
	}
	return present, present < p.partial
}

// pass is how far the copies of a namespace have been written. Whoever has begun a turn owns it until the turn ends.
type pass struct {
	uid  types.UID
	move int
	// stage is the present one, and last its last name that was tried, nil if none was.
	stage stage
	last  *name
	plan  plan
	// blocked are the API groups in which removals have failed, so that nothing is written.
	blocked sets.Set[string]
	// kept are the removals that are not tried again: those that have failed, and those after their stage.
	kept sets.Set[string]
	errs []error
	// failed are the first namesPerRepeat names that could not be written or removed, by stage, and failures counts all.
	failed   [stages][]name
	failures int

	// The controller's lock guards what follows.

	// running is set during a turn.
	running bool
	// again is set if the copies have to be evaluated again after the pass: what was tried may have changed since.
	// outdated is set if that applies to the plan.
	again, outdated bool
}

// errTurnOver reports that an item was not tried, because its turn is over.
var errTurnOver = errors.New("the turn is over")

// putBack makes items of a stage that were not tried the next ones again; last is what was tried before them.
func (p *pass) putBack(items []item, at stage, last *name) {
	var next []name
	for _, i := range items {
		next = append(next, name{i.kind, i.Name})
	}
	p.plan.names[at] = append(next, p.plan.names[at]...)
	if at == p.stage {
		p.last = last
	}
}

// tried records that an item was tried, and why it could not be written or removed.
func (p *pass) tried(i item, err error) {
	removal := stageOf(i.Write) == removals
	if removal && (err != nil || p.stage > removals) {
		p.kept.Insert(name{i.kind, i.Name}.id())
	}
	if err == nil {
		return
	}
	if p.stage == removals {
		p.blocked.Insert(i.Kind.Group)
	}
	if len(p.errs) < maxErrors {
		p.errs = append(p.errs, err)
	}
	if p.failures++; p.failures <= namesPerRepeat {
		p.failed[stageOf(i.Write)] = append(p.failed[stageOf(i.Write)], name{i.kind, i.Name})
	}
}

// enqueue asks to reconcile all copies in a namespace.
func (c *Controller) enqueue(namespace string) {
	c.mu.Lock()
	if p := c.passes[namespace]; p != nil {
		p.again, p.outdated = true, true
	}
	delete(c.repeats, namespace)
	c.mu.Unlock()
	c.Queue.Add(queue.Key{Class: queue.Destination, Namespace: namespace})
}

// beginTurn continues the pass of a namespace, or begins one: the namespace may have moved since, or be another one.
func (c *Controller) beginTurn(namespace string) (p *pass) {
	c.Cache.Read(func(s *cache.State) {
		uid, move := c.identity(s, namespace)
		other := func(p *pass) bool { return p == nil || p.uid != uid || (move != 0 && move != p.move) }
		began := &pass{uid: uid, move: move, blocked: sets.New[string](), kept: sets.New[string](), outdated: true}
		c.mu.Lock()
		defer c.mu.Unlock()
		if repeat := c.repeats[namespace]; !other(repeat) {
			began = repeat
		}
		delete(c.repeats, namespace)
		p = c.passes[namespace]
		switch {
		case other(p):
			c.passes[namespace] = began
			p = began
		case p.running:
			p = began // Nobody continues it.
		}
		p.running = true
	})
	return p
}

// identity returns the UID of a namespace, and the number of its move if it is moving.
func (c *Controller) identity(s *cache.State, namespace string) (uid types.UID, move int) {
	if ns := s.Tree.Namespace(namespace); ns != nil {
		uid = ns.UID
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return uid, c.moving[namespace]
}

// outdated reports whether the plan of a pass has to be made, or made again. It does so once for each change.
func (c *Controller) outdated(p *pass) (outdated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	outdated = p.outdated && time.Since(p.plan.at) > minPlanAge
	p.outdated = p.outdated && !outdated
	return outdated
}

// makePlan plans the next names of a pass.
func (c *Controller) makePlan(namespace string, p *pass) {
	// It may have to evaluate any number of objects.
	c.deciding.Lock()
	defer c.deciding.Unlock()
	var tried map[int]sets.Set[string]
	if p.plan.at.IsZero() && c.failures.in(namespace) {
		tried = map[int]sets.Set[string]{}
	}
	p.plan = plan{at: time.Now(), partial: stages}
	c.Cache.Read(func(s *cache.State) {
		if s.Tree.Halted(namespace) {
			return
		}
		d := namespacestate.Destination(s.Tree, namespace)
		for kind, k := range s.Kinds() {
			if !k.Synced {
				continue
			}
			outdated, wanted := k.Index.DecideAll(d)
			if tried != nil {
				tried[kind] = namesOf(outdated, wanted)
			}
			for _, list := range [][]copies.Write{outdated, wanted} {
				for _, w := range list {
					if n, at := (name{kind, w.Name}), stageOf(w); p.lacks(n, at) {
						p.plan.names[at] = append(p.plan.names[at], n)
					}
				}
			}
		}
	})
	c.mu.Lock()
	left := max(writesPerTurn*c.Workers, min(namesPerPlan, plannedNames/max(1, len(c.passes))))
	c.mu.Unlock()
	for at, names := range p.plan.names {
		if len(names) > left {
			p.plan.partial = min(p.plan.partial, stage(at))
		}
		p.plan.names[at] = slices.Clone(names[:min(left, len(names))])
		left -= len(p.plan.names[at])
	}
	if tried != nil {
		c.failures.clearExcept(namespace, tried)
	}
}

// lacks reports whether a name of a stage has not been tried yet. Those of a stage come in order.
func (p *pass) lacks(n name, at stage) bool {
	switch {
	case at == removals && p.stage > removals:
		return !p.kept.Has(n.id())
	case at == p.stage && p.last != nil:
		return n.kind > p.last.kind || (n.kind == p.last.kind && n.name > p.last.name)
	}
	return at >= p.stage
}

// turn is what is left of a turn.
type turn struct{ requests, names int }

// take returns what is to be written for the next names of a stage, as far as the turn allows. It is decided now, as
// others may have written it since the plan. If the namespace has moved or is another one, the turn ends, and the next
// one begins another pass. If it waits for limits, the pass ends before permissions, unless limited is set.
func (c *Controller) take(namespace string, p *pass, at stage, left *turn, limited bool) (items []item) {
	c.Cache.Read(func(s *cache.State) {
		if uid, move := c.identity(s, namespace); uid != p.uid || (move != 0 && move != p.move) {
			left.requests = 0
			return
		}
		if at >= permissions && !limited && s.Tree.LimitsPending(namespace) {
			p.stage = stages
			return
		}
		d := namespacestate.Destination(s.Tree, namespace)
		for ; left.requests > 0 && left.names > 0 && len(p.plan.names[at]) > 0; left.names-- {
			n := p.plan.names[at][0]
			p.plan.names[at] = p.plan.names[at][1:]
			if at == p.stage {
				p.last = &n
			}
			var w *copies.Write
			if k := s.Kind(n.kind); k.Synced && !s.Tree.Halted(namespace) {
				w = k.Index.Decide(d, n.name)
			}
			switch {
			case w == nil:
				c.failures.clear(n.kind, namespace, n.name)
			case stageOf(*w) > at:
				c.mu.Lock()
				p.again = true
				c.mu.Unlock()
			case stageOf(*w) > removals && p.blocked.Has(w.Kind.Group):
			default:
				items = append(items, item{*w, n.kind})
				if w.Verb != copies.Keep && w.Verb != copies.Wait {
					left.requests--
				}
			}
		}
	})
	return items
}

// endTurn ends a turn. It returns outcome.ErrUnfinished unless the pass has ended, then the errors of the pass.
func (c *Controller) endTurn(namespace string, p *pass) error {
	c.mu.Lock()
	p.running = false
	unfinished := p.stage < stages
	if !unfinished && c.passes[namespace] == p {
		delete(c.passes, namespace)
		if p.repeatable() {
			c.repeats[namespace] = &pass{
				uid: p.uid, move: p.move, plan: plan{names: p.failed, partial: stages}, blocked: sets.New[string](), kept: sets.New[string](),
			}
		}
	}
	c.mu.Unlock()
	if unfinished {
		return outcome.ErrUnfinished
	}
	if p.again {
		c.enqueue(namespace)
	}
	return errors.Join(p.errs...)
}

// repeatable reports whether a pass that has ended has tried everything else, and its failures are few enough to be
// remembered. The controller's lock must be held.
func (p *pass) repeatable() bool {
	return p.failures > 0 && p.failures <= namesPerRepeat &&
		!p.again && len(p.blocked) == 0 && len(slices.Concat(p.plan.names[:]...)) == 0
}

// stageOf returns the stage in which a copy is written or removed.
func stageOf(w copies.Write) stage {
	switch {
	case w.Source == nil:
		return removals
	case w.Source.BindsRole() != "":
		return bound
	case w.Kind.Group == rbacv1.GroupName:
		return permissions
	}
	return restrictions
}
