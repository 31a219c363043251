// Package quota enforces HierarchicalResourceQuotas: it writes the ResourceQuotas that hold each namespace to the
// limits above it, and reports the use of each subtree. Source: docs/spec/hnc.md 3.13.
package quota

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache/quotas"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/pacing"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Controller reconciles the ResourceQuotas of namespaces and the status of quotas.
type Controller struct {
	controller.Dependencies
	metrics *quotaMetrics
	config  Config
	// statuses delays the next write of a status that keeps changing.
	statuses *pacing.Cooldown
	pace     pacing.Pace
	// webhook registers the webhook.
	webhook *registrar

	// mu guards what follows. The cache may be locked before it, never after it.
	mu      sync.Mutex
	tallies tallies
	// pending are the namespaces that are not known to be held to their limits.
	pending sets.Set[string]
	// failures holds, by namespace, why its ResourceQuotas can't be written.
	failures map[string]string
	// exceeded are the quotas whose use exceeds a limit.
	exceeded sets.Set[quotas.Key]
	backlog  *backlog
}

// Config is what a Controller needs besides the dependencies that all controllers get.
type Config struct {
	// Window is how long changes of a status are collected before it is written. A status that keeps changing is
	// written once in ten windows.
	Window time.Duration
	// Mode is how sums are limited.
	Mode Mode
	// Held is called when a namespace is held to its limits that was not.
	Held func(s *cache.State, namespace string)
}

// New returns a Controller.
func New(d controller.Dependencies, config Config) *Controller {
	c := &Controller{
		Dependencies: d, config: config, metrics: newMetrics(d.Metrics), statuses: pacing.New(10 * config.Window), pace: pacing.NewPace(),
		tallies: newTallies(), pending: sets.New[string](), failures: map[string]string{}, exceeded: sets.New[quotas.Key](), backlog: newBacklog(d),
	}
	c.webhook = &registrar{Dependencies: d, mode: config.Mode, effective: c.resume}
	return c
}

// Handlers returns the handlers that enqueue what a change affects.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		TreeChanged: func(s *cache.State, affected tree.Affected) {
			if s.Quotas.Empty() {
				return
			}
			// Changed are those with another number of sub-namespaces, among others.
			c.recount(s, slices.Concat(affected.Moved, affected.Changed)...)
			for _, name := range affected.Moved {
				c.enqueue(s, name)
			}
		},
		QuotaChanged:    c.quotaChanged,
		KindChanged:     c.kindChanged,
		PoliciesChanged: func(s *cache.State, kind int, _ modes.Policies) { c.kindChanged(s, kind) },
		KindStopped:     c.kindChanged,
		QuotaObjectChanged: func(s *cache.State, old, o *quotas.Object) {
			either := cmp.Or(o, old)
			c.settle(s, either.Key)
			c.recount(s, either.Namespace)
			c.enqueue(s, either.Namespace)
		},
		QuotaWebhookChanged: func(s *cache.State) {
			c.webhook.enqueue()
			for q := range s.Quotas.Quotas() {
				c.enqueueStatus(q.Key)
			}
		},
	}
}

func (c *Controller) quotaChanged(s *cache.State, old, q *quotas.Quota) {
	if old != nil && q != nil && old.UID == q.UID && old.Generation == q.Generation {
		return // Another status.
	}
	either := cmp.Or(q, old)
	subtree := append(s.Tree.Descendants(either.Namespace), either.Namespace)
	c.mu.Lock()
	c.tallies.forget(either.Key)
	if q != nil {
		c.tallies.add(q.Key, subtree)
		// Failures are reported to this quota, too, when they occur again.
		for _, name := range subtree {
			delete(c.failures, name)
		}
	} else {
		c.exceeded.Delete(either.Key)
		c.metrics.exceeded.Set(float64(c.exceeded.Len()))
	}
	c.mu.Unlock()
	c.webhook.enqueue()
	for _, name := range subtree {
		c.enqueue(s, name)
	}
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
		c.settle(s, o.Key)
		c.enqueue(s, o.Namespace)
	}
	c.webhook.enqueue()
}

func (c *Controller) settle(s *cache.State, key quotas.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.backlog.settle(s, key)
}

// enqueue asks to reconcile the ResourceQuotas of a namespace.
func (c *Controller) enqueue(s *cache.State, namespace string) {
	c.mu.Lock()
	writes, held := c.plan(s, namespace)
	due := len(writes) > 0 || !held || c.pending.Has(namespace)
	if !held {
		c.pending.Insert(namespace)
	}
	c.mu.Unlock()
	if due {
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
	c.Queue.AddAfter(queue.Key{Class: queue.QuotaStatus, Namespace: key.Namespace, Name: key.Name}, c.config.Window)
}

// Reconcile writes the ResourceQuotas of a namespace, the status of a quota, or the registration of the webhook.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	switch key.Class {
	case queue.QuotaStatus:
		return c.reconcileStatus(ctx, key)
	case queue.QuotaAdmission:
		return c.webhook.reconcile(ctx)
	}
	err := c.sync(ctx, key.Namespace)
	c.updatePending(key.Namespace)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.backlog.waits(key.Namespace) {
		return outcome.ErrWaiting
	}
	return err
}

// updatePending records whether a namespace is held to its limits, and has the statuses of the quotas above it written
// if that has changed. What waits in its tree, or in that which it was the root of, is written if there is room for it.
func (c *Controller) updatePending(namespace string) {
	c.Cache.Read(func(s *cache.State) {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.pending.Has(namespace)
		_, held := c.plan(s, namespace)
		if !held {
			c.pending.Insert(namespace)
		} else {
			c.pending.Delete(namespace)
			delete(c.failures, namespace)
		}
		c.metrics.pending.Set(float64(c.pending.Len()))
		if was == held {
			for _, q := range s.Quotas.Governing(s.Tree, namespace) {
				c.enqueueStatus(q.Key)
			}
		}
		if was && held {
			c.config.Held(s, namespace)
		}
		for _, root := range slices.Compact([]string{namespace, s.Tree.Root(namespace)}) {
			c.backlog.releaseTree(root)
		}
	})
}
