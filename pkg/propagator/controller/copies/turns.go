package copies

import (
	"errors"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/desired"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// A namespace may inherit any number of objects, and other trees wait while they are written. So its copies are written
// in turns, between which others have theirs. A pass is one try to write each of them.

// writesPerTurn is how many copies of a namespace are written in a turn, for each worker.
const writesPerTurn = 4

// maxErrors is how many errors of a pass are kept. There may be one for each copy.
const maxErrors = 128

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

// item is one copy to write or to remove.
type item struct {
	copies.Write
	// kind is the number of the kind.
	kind int
}

// id identifies the item in its namespace.
func (i item) id() string { return strconv.Itoa(i.kind) + "/" + i.Name }

// compare orders the items of a stage.
func (i item) compare(other item) int {
	if i.kind != other.kind {
		return i.kind - other.kind
	}
	return strings.Compare(i.Name, other.Name)
}

// pass is how far the copies of a namespace have been written. Whoever has begun a turn owns it until the turn ends.
type pass struct {
	uid  types.UID
	move int
	// stage is the present one, and last its last item that was tried, nil if none was.
	stage stage
	last  *item
	// blocked are the API groups in which removals have failed, so that nothing is written.
	blocked sets.Set[string]
	// kept are the removals that have failed, so that they are not tried in each turn.
	kept sets.Set[string]
	errs []error

	// The controller's lock guards what follows.

	// running is set during a turn.
	running bool
	// again is set if the copies have to be evaluated again: what was tried may have changed since.
	again bool
}

// tried records that an item was tried, and why it could not be written or removed.
func (p *pass) tried(i item, err error) {
	if p.stage == removals || stageOf(i.Write) != removals {
		p.last = &i
	}
	if err == nil {
		return
	}
	if stageOf(i.Write) == removals {
		p.kept.Insert(i.id())
	}
	if p.stage == removals {
		p.blocked.Insert(i.Kind.Group)
	}
	if len(p.errs) < maxErrors {
		p.errs = append(p.errs, err)
	}
}

// enqueue asks to reconcile all copies in a namespace.
func (c *Controller) enqueue(namespace string) {
	c.mu.Lock()
	if p := c.passes[namespace]; p != nil {
		p.again = true
	}
	c.mu.Unlock()
	c.Queue.Add(queue.Key{Class: queue.Destination, Namespace: namespace})
}

// beginTurn continues the pass of a namespace, or begins one, and returns what is left to be done, by stage.
func (c *Controller) beginTurn(namespace string) (p *pass, todo [stages][]item) {
	// Each may have to look at any number of objects.
	c.deciding.Lock()
	defer c.deciding.Unlock()
	var tried map[int]sets.Set[string]
	c.Cache.Read(func(s *cache.State) {
		p = c.takePass(s, namespace)
		if p.stage == removals && p.last == nil && c.failures.in(namespace) {
			tried = map[int]sets.Set[string]{}
		}
		if s.Tree.Halted(namespace) {
			return
		}
		d := desired.Destination(s.Tree, namespace)
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
					i, at := item{w, kind}, stageOf(w)
					// What is revoked meanwhile does not wait for what is left to be written.
					late := at == removals && p.stage > removals && !p.kept.Has(i.id())
					if late || at > p.stage || (at == p.stage && (p.last == nil || i.compare(*p.last) > 0)) {
						todo[at] = append(todo[at], i)
					}
				}
			}
		}
	})
	if tried != nil {
		c.failures.clearExcept(namespace, tried)
	}
	return p, todo
}

// takePass returns the pass of a namespace that is to be continued, or a new one: the namespace may have moved since, or
// be another one.
func (c *Controller) takePass(s *cache.State, namespace string) *pass {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := &pass{move: c.moving[namespace], blocked: sets.New[string](), kept: sets.New[string](), running: true}
	if ns := s.Tree.Namespace(namespace); ns != nil {
		began.uid = ns.UID
	}
	p := c.passes[namespace]
	switch {
	case p == nil, p.uid != began.uid, began.move != 0 && began.move != p.move:
		c.passes[namespace] = began
		return began
	case p.running:
		return began // Nobody continues it.
	}
	p.running = true
	return p
}

// endTurn ends a turn. It returns outcome.ErrUnfinished unless the pass has ended, then the errors of the pass.
func (c *Controller) endTurn(namespace string, p *pass) error {
	c.mu.Lock()
	p.running = false
	unfinished := p.stage < stages
	if !unfinished && c.passes[namespace] == p {
		delete(c.passes, namespace)
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
