// Package quota enforces HierarchicalResourceQuotas: it writes the ResourceQuotas that hold each namespace to the limits above it, and reports the
// use of each subtree. Source: spec/hnc.md 3.13.
package quota

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cooldown"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Controller reconciles the ResourceQuotas of namespaces and the status of quotas.
type Controller struct {
	controller.Dependencies
	metrics *quotaMetrics
	// window is how long changes of a status are collected before it is written; statuses delays the next write of a status that keeps changing.
	window   time.Duration
	statuses *cooldown.Cooldown

	// mu guards what follows. The cache may be locked before it, never after it.
	mu      sync.Mutex
	tallies tallies
	// pending are the namespaces that are not known to be held to their limits.
	pending sets.Set[string]
	// failures holds, by namespace, why its ResourceQuotas can't be written.
	failures map[string]string
}

// New returns a Controller that collects changes of a status for the window, and writes a status that keeps changing once in ten windows.
func New(d controller.Dependencies, window time.Duration) *Controller {
	return &Controller{
		Dependencies: d, metrics: newMetrics(d.Metrics), window: window, statuses: cooldown.New(10 * window),
		tallies: newTallies(), pending: sets.New[string](), failures: map[string]string{},
	}
}

// Handlers returns the handlers that enqueue what a change affects.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		TreeChanged: func(s *cache.State, affected tree.Affected) {
			if s.Quotas.Empty() {
				return
			}
			for _, name := range affected.Moved {
				c.enqueue(s, name)
			}
			// The number of sub-namespaces may be another.
			c.recount(s, affected.Moved...)
			c.recount(s, affected.Changed...)
		},
		QuotaChanged: c.quotaChanged,
		QuotaObjectChanged: func(s *cache.State, old, o *quotas.Object) {
			either := o
			if either == nil {
				either = old
			}
			c.enqueue(s, either.Namespace)
			c.recount(s, either.Namespace)
		},
	}
}

func (c *Controller) quotaChanged(s *cache.State, old, q *quotas.Quota) {
	if old != nil && q != nil && old.UID == q.UID && old.Generation == q.Generation {
		return // Another status.
	}
	either := q
	if either == nil {
		either = old
	}
	subtree := append(s.Tree.Descendants(either.Namespace), either.Namespace)
	for _, name := range subtree {
		c.enqueue(s, name)
	}
	c.mu.Lock()
	c.tallies.forget(either.Key)
	if q != nil {
		c.tallies.add(q.Key, subtree)
	}
	c.mu.Unlock()
	if q != nil {
		c.enqueueStatus(q.Key)
	}
}

// Start enqueues everything that diverges, when the propagator begins to lead.
func (c *Controller) Start(s *cache.State) {
	for q := range s.Quotas.Quotas() {
		c.quotaChanged(s, nil, q)
	}
	for o := range s.Quotas.Objects() {
		c.enqueue(s, o.Namespace)
	}
}

// enqueue asks to reconcile the ResourceQuotas of a namespace.
func (c *Controller) enqueue(s *cache.State, namespace string) {
	c.mu.Lock()
	right := !c.pending.Has(namespace) && c.diverges(s, namespace) == nil
	if !right {
		c.pending.Insert(namespace)
	}
	c.mu.Unlock()
	if !right {
		c.Queue.Add(queue.Key{Class: queue.Quota, Namespace: namespace})
	}
}

// recount has the use in namespaces counted again for each quota above them, before and after a move.
func (c *Controller) recount(s *cache.State, namespaces ...string) {
	affected := sets.New[quotas.Key]()
	c.mu.Lock()
	for _, namespace := range namespaces {
		for _, key := range c.tallies.outdate(namespace, s.Quotas.Governing(s.Tree, namespace)) {
			affected.Insert(key)
		}
	}
	c.mu.Unlock()
	for key := range affected {
		c.enqueueStatus(key)
	}
}

func (c *Controller) enqueueStatus(key quotas.Key) {
	c.Queue.AddAfter(queue.Key{Class: queue.QuotaStatus, Namespace: key.Namespace, Name: key.Name}, c.window)
}

// Reconcile writes the ResourceQuotas of a namespace, or the status of a quota.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	if key.Class == queue.QuotaStatus {
		return c.reconcileStatus(ctx, key)
	}
	err := c.sync(ctx, key.Namespace)
	c.updatePending(key.Namespace)
	return err
}

// updatePending records whether a namespace is held to its limits, and has the statuses of the quotas above it written if that has changed.
func (c *Controller) updatePending(namespace string) {
	c.Cache.Read(func(s *cache.State) {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.pending.Has(namespace)
		is := c.diverges(s, namespace) != nil
		if is {
			c.pending.Insert(namespace)
		} else {
			c.pending.Delete(namespace)
			delete(c.failures, namespace)
		}
		c.metrics.pending.Set(float64(c.pending.Len()))
		if was != is {
			for _, q := range s.Quotas.Governing(s.Tree, namespace) {
				c.enqueueStatus(q.Key)
			}
		}
	})
}

// diverges returns what to write in a namespace, or an empty list if its ResourceQuotas are right but their use is not computed yet; nil if it is
// held to its limits. The lock must be held.
func (c *Controller) diverges(s *cache.State, namespace string) []write {
	writes, computed := planFor(s, namespace, c.allows(namespace))
	if len(writes) > 0 {
		return writes
	}
	if !computed {
		return []write{}
	}
	return nil
}

func contains(chain []string, namespace string) bool { return slices.Contains(chain, namespace) }
