// Package configuration reconciles the cluster's HNCConfiguration: it resolves the kinds that the configuration and the
// hierarchies name, has them watched, and writes the status. Source: docs/spec/hnc.md 3.12.
package configuration

import (
	"cmp"
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// countsWindows is how many windows the numbers of objects may be old: counting them takes time in proportion to the
// namespaces.
const countsWindows = 5

// Config is what a Controller needs besides the dependencies that all controllers get.
type Config struct {
	// Discover returns the kinds that the cluster has.
	Discover func(context.Context) (Cluster, error)
	// Initial is the spec of the configuration that is created if there is none.
	Initial v1beta1.HNCConfigurationSpec
	// Window is how long changes of the status are collected before it is written.
	Window time.Duration
	// Failures describe why copies of a kind can't be written, by the groups that their namespaces are in.
	Failures func(kind int, groups func(namespace string) []string) map[string]string
}

// Controller reconciles the configuration.
type Controller struct {
	controller.Dependencies
	Config
	// summary holds which namespaces have conditions, once this replica leads.
	summary *summary
	// rediscover holds a token while the kinds have to be resolved again.
	rediscover chan struct{}

	// mu guards what follows. The cache may be locked before it, never after it.
	mu sync.Mutex
	// resolved is the latest resolution, nil before the first.
	resolved *resolution
	// announced is when the cluster last announced other kinds.
	announced time.Time
	// due is when the status is to be written, zero if that isn't queued.
	due time.Time
}

// New returns a Controller.
func New(d controller.Dependencies, config Config) *Controller {
	return &Controller{
		Dependencies: d, Config: config,
		summary: newSummary(newConditions(d.Metrics)), rediscover: make(chan struct{}, 1),
	}
}

// KindHandlers returns the handlers that have the kinds resolved again. A standby needs them too.
func (c *Controller) KindHandlers() cache.EventHandlers {
	return cache.EventHandlers{
		TreeChanged: func(_ *cache.State, affected tree.Affected) {
			if affected.Propagation {
				c.resolveAgain()
			}
		},
		ConfigurationChanged: func(s *cache.State, old *v1beta1.HNCConfiguration) {
			now := s.Configuration
			if (old == nil) != (now == nil) || (now != nil && old.Generation != now.Generation) {
				c.resolveAgain()
			}
		},
		KindsAnnounced: func(*cache.State) {
			c.mu.Lock()
			c.announced = time.Now()
			c.mu.Unlock()
			c.resolveAgain()
		},
	}
}

// Handlers returns the handlers that have the status written.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		TreeChanged: func(_ *cache.State, affected tree.Affected) {
			if len(affected.Moved) > 0 {
				c.Enqueue() // The excluded namespaces may be others.
			}
		},
		// Objects change all the time, and only their numbers in the status do.
		ObjectChanged:        func(*cache.State, int, *copies.Object, *copies.Object) { c.enqueueAfter(countsWindows * c.Window) },
		KindChanged:          func(*cache.State, int) { c.Enqueue() },
		KindStatusChanged:    func(*cache.State, int) { c.Enqueue() },
		ConfigurationChanged: func(*cache.State, *v1beta1.HNCConfiguration) { c.Enqueue() },
	}
}

// Enqueue asks to write the status once the window is over.
func (c *Controller) Enqueue() { c.enqueueAfter(c.Window) }

// enqueueAfter asks to write the status after a delay, unless it is written earlier.
func (c *Controller) enqueueAfter(delay time.Duration) {
	due := time.Now().Add(delay)
	c.mu.Lock()
	earlier := c.due.IsZero() || due.Before(c.due)
	if earlier {
		c.due = due
	}
	c.mu.Unlock()
	if earlier {
		c.Queue.AddAfter(queue.Key{Class: queue.Configuration}, delay)
	}
}

// ObserveConditions records the conditions of a namespace, which the status summarizes.
func (c *Controller) ObserveConditions(namespace string, conditions []metav1.Condition) {
	if c.summary.Set(namespace, conditions) {
		c.Enqueue()
	}
}

// updateTreeConditions records the conditions of hierarchies that concern the kinds that they name, in their own
// subtrees: what fails elsewhere is nobody's business there.
func (c *Controller) updateTreeConditions(s *cache.State) {
	c.mu.Lock()
	resolved := c.resolved
	c.mu.Unlock()
	if resolved == nil {
		return
	}
	conditions := map[string][]metav1.Condition{}
	failures := map[int]map[string]string{}
	for namespace, r := range resolved.Trees {
		problems := problemsOf("spec.propagation", r.Problems)
		for _, e := range r.Entries {
			kind, known := s.KindOf(e.Kind.GroupResource())
			// If the configuration propagates the kind too, it reports the error.
			if !known || s.Kind(kind).Policies.Cluster.Mode != v1beta1.Ignore {
				continue
			}
			if failures[kind] == nil {
				failures[kind] = c.Failures(kind, s.Tree.Chain)
			}
			if message := cmp.Or(s.Kind(kind).ReadError, failures[kind][namespace]); message != "" {
				problems = append(problems, problem{Condition: hnc.ConditionOutOfSync, Reason: hnc.ReasonUnknown, Message: message})
			}
		}
		if len(problems) > 0 {
			conditions[namespace] = Conditions(problems)
		}
	}
	s.SetTreeConditions(conditions)
}

// failure describes why objects of a kind can't be read or written, "" if they can.
func (c *Controller) failure(s *cache.State, kind int) string {
	if err := s.Kind(kind).ReadError; err != "" {
		return err
	}
	return c.Failures(kind, func(string) []string { return []string{""} })[""]
}
