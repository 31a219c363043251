package copies

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/parallel"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// syncSource enqueues the copies that a changed source affects, and emits events about the source.
func (c *Controller) syncSource(key queue.Key) {
	at := c.changedAt.Remove(key)
	var (
		affected    []queue.Key
		descendants []string
		withheld    string
		root        string
		inTree      bool
		source      *copies.Object
		kind        copies.Kind
	)
	c.Cache.Read(func(s *cache.State) {
		descendants, root = s.Tree.Descendants(key.Namespace), s.Tree.Root(key.Namespace)
		index := s.Kind(key.Kind).Index
		source, kind = index.Get(key.Namespace, key.Name), index.Kind
		inTree = len(descendants) > 0 || s.Tree.Parent(key.Namespace) != ""
	})
	// Nobody waits for all of this. What changes meanwhile has its own event.
	for _, namespace := range descendants {
		c.Cache.Read(func(s *cache.State) {
			if w := decide(s, key.Kind, namespace, key.Name); w != nil {
				affected = append(affected, keyOf(key.Kind, w))
			} else if c.failures.has(key.Kind, namespace, key.Name) {
				affected = append(affected, queue.Key{Class: queue.Copy, Kind: key.Kind, Namespace: namespace, Name: key.Name})
			}
			if withheld == "" && withholds(s, key.Kind, source, namespace) {
				withheld = namespace
			}
		})
	}
	hasChildren := len(descendants) > 0
	c.metrics.reconciling(groupKind(kind))()

	switch {
	case source == nil || source.Copy:
	case source.Unaddressable():
		if hasChildren {
			c.events.unaddressable(kind, source)
		}
	case source.Unreadable() != nil && hasChildren:
		c.events.unreadable(kind, source)
	case source.Misread() != nil && inTree:
		c.events.misread(kind, source)
	case source.WithheldByFinalizers() && hasChildren:
		c.events.finalized(kind, source)
	case withheld != "" && c.withheld.Allow(time.Now(), root, 1):
		c.events.withheld(source, withheld)
	}
	c.lag.Start(at, affected)
	for _, k := range affected {
		c.Queue.Add(k)
	}
	if kind == copies.Roles {
		c.syncBound(key.Namespace, key.Name, descendants)
	}
}

// syncCopy writes or removes one copy.
func (c *Controller) syncCopy(ctx context.Context, key queue.Key) error {
	role := key
	role.Class = queue.Copy // What is left to do about a Role is known by that.
	if resumed, err := c.resumeWithdrawal(ctx, role); resumed {
		return err
	}
	var (
		later bool
		w     *copies.Write
		kind  copies.Kind
	)
	c.Cache.Read(func(s *cache.State) {
		if later = c.busy(key.Namespace); !later {
			w = decide(s, key.Kind, key.Namespace, key.Name)
		}
		kind = s.Kind(key.Kind).Index.Kind
	})
	switch {
	case later:
		c.enqueue(key.Namespace)
	case w != nil && w.Arrives() && c.readsLong(key.Namespace):
		return paced(*w)
	case w != nil:
		if err := c.write(ctx, c.slots, key.Kind, *w); err != nil {
			return err
		}
	default:
		c.failures.clear(key.Kind, key.Namespace, key.Name)
		c.metrics.reconciling(groupKind(kind))()
	}
	c.lag.Done(key)
	return c.confirmUnanswered(ctx, role)
}

// busy reports whether all copies of the namespace are written in an order of their own, because it has moved or is
// new.
func (c *Controller) busy(namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, moving := c.moving[namespace]
	_, populating := c.populating[namespace]
	return moving || populating
}

// syncDestination writes or removes all copies in a namespace, unless it is being populated.
func (c *Controller) syncDestination(ctx context.Context, namespace string) error {
	c.mu.Lock()
	_, populating := c.populating[namespace]
	c.mu.Unlock()
	if populating {
		return nil
	}
	return c.syncNamespace(ctx, c.slots, namespace, false)
}

// syncNamespace writes or removes all copies in a namespace, in turns: it returns outcome.ErrUnfinished when another one
// is needed. What no longer applies is removed before anything that newly applies is written, so that access is never
// the union of two trees for longer than the removal takes. A kind that can't be removed does not delay the kinds of
// other API groups, and its own group only for maxRemovalTries: one object must not keep the policies of the new tree
// out. Permissions come last: what restricts their use is there before them.
//
// Roles and RoleBindings are written only if limited is set, or the namespace does not wait for limits.
func (c *Controller) syncNamespace(ctx context.Context, slots chan struct{}, namespace string, limited bool) error {
	p, left, plans := c.beginTurn(namespace), turn{writesPerTurn * c.Workers, namesPerTurn}, 1
	makePlan := func() {
		c.makePlan(namespace, p)
		plans--
	}
	if c.outdated(p) {
		makePlan()
	}
	var ends time.Time
	for p.stage < stages && left.requests > 0 && left.names > 0 {
		at, complete := p.plan.next(p.stage)
		switch {
		case len(p.plan.names[at]) > 0:
			last := p.last
			items := c.take(namespace, p, at, &left, limited)
			steps, first := make([]func() error, len(items)), ends.IsZero()
			if first {
				ends = time.Now().Add(turnTime)
			}
			for n, i := range items {
				steps[n] = func() error {
					if (!first || n >= c.Workers) && time.Now().After(ends) {
						return errTurnOver
					}
					return c.write(ctx, slots, i.kind, i.Write)
				}
			}
			for n, err := range parallel.RunAll(c.Workers, steps) {
				if errors.Is(err, errTurnOver) {
					p.putBack(items[n:], at, last)
					left.requests = 0
					break
				}
				p.tried(items[n], err)
				last = &name{items[n].kind, items[n].Name}
			}
		case !complete && plans == 0:
			return c.endTurn(namespace, p)
		case !complete:
			makePlan()
		default:
			if p.stage == removals && c.removalEnded(namespace, len(p.errs) > 0) {
				c.moved(namespace, p.move)
				p.blocked.Clear()
			}
			p.stage, p.last = p.stage+1, nil
		}
	}
	return c.endTurn(namespace, p)
}

func namesOf(lists ...[]copies.Write) sets.Set[string] {
	all := sets.New[string]()
	for _, list := range lists {
		for _, w := range list {
			all.Insert(w.Name)
		}
	}
	return all
}

// maxRemovalTries is how often the removal of old copies is tried before new ones are written, which takes about 5 s
// with the queue's back-off.
const maxRemovalTries = 10

// removalEnded records a try to remove old copies from a namespace, and reports whether new ones may be written.
func (c *Controller) removalEnded(namespace string, failed bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !failed {
		delete(c.removalTries, namespace)
		return true
	}
	c.removalTries[namespace] = min(c.removalTries[namespace]+1, maxRemovalTries)
	return c.removalTries[namespace] == maxRemovalTries
}

// moved records that the old copies of a move are removed, as far as possible, unless the namespace has moved again.
func (c *Controller) moved(namespace string, move int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if move != 0 && c.moving[namespace] == move {
		delete(c.moving, namespace)
	}
}
