// Package subnamespace reconciles Subnamespaces: it creates and deletes their namespaces, populates them, reports, and
// creates the Subnamespaces that hierarchies require.
package subnamespace

import (
	"context"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/namespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/pacing"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Controller reconciles Subnamespaces.
type Controller struct {
	controller.Dependencies
	Controllers
	// inheritPodSecurity gives sub-namespaces the Pod Security labels of their parents.
	inheritPodSecurity bool
	requestedAt        *queue.Stamps
	creationSeconds    *metrics.Histogram
	// refusals and treeRefusals delay further tries to create required children, and to create or populate sub-namespaces,
	// after one was refused again: those of its parent, and, for a shorter time, those of its tree, by its root.
	refusals, treeRefusals *pacing.Cooldown
	// pace delays reports about large Subnamespaces, by large, whose names are those of the parent and the Subnamespace.
	pace  pacing.Pace
	large *pacing.Cooldown
}

// Controllers are those that complete new namespaces.
type Controllers struct {
	Namespaces  *namespace.Controller
	Hierarchies *hierarchy.Controller
	Copies      *copies.Controller
	Quotas      *quota.Controller
}

// New returns a Controller that completes new namespaces by the other controllers.
func New(d controller.Dependencies, others Controllers, inheritPodSecurity bool) *Controller {
	return &Controller{
		Dependencies: d, Controllers: others,
		inheritPodSecurity: inheritPodSecurity, requestedAt: queue.NewStamps(), creationSeconds: newCreationSeconds(d.Metrics), refusals: pacing.New(refusedPace),
		treeRefusals: pacing.New(refusedTreePace), pace: pacing.NewPace(), large: pacing.New(time.Second),
	}
}

// Handlers returns the handlers that enqueue affected Subnamespaces.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{TreeChanged: func(s *cache.State, affected tree.Affected) {
		for _, name := range affected.Moved {
			c.Enqueue(s.Tree.RequestsFor(name)...)
			c.Enqueue(s.Tree.Missing(name)...)
		}
		c.Enqueue(affected.Subnamespaces...)
	}}
}

// Start enqueues all Subnamespaces, and those that are missing, when the propagator begins to lead.
func (c *Controller) Start(s *cache.State) {
	c.Enqueue(s.Tree.SubnamespaceKeys()...)
	for _, name := range s.Tree.Names() {
		c.Enqueue(s.Tree.Missing(name)...)
		c.Enqueue(s.Tree.Detached(name)...)
	}
}

// Differs reports whether any namespace or any required Subnamespace would be created, or any namespace deleted.
func (c *Controller) Differs(s *cache.State) bool {
	differs := func(key tree.Key) bool {
		action := planFor(s.Tree, key, metav1.Now()).action
		return action == createNamespace || action == deleteNamespace || action == require
	}
	return slices.ContainsFunc(s.Tree.SubnamespaceKeys(), differs) ||
		slices.ContainsFunc(s.Tree.Names(), func(name string) bool {
			return slices.ContainsFunc(slices.Concat(s.Tree.Missing(name), s.Tree.Detached(name)), differs)
		})
}

// Enqueue asks to reconcile Subnamespaces.
func (c *Controller) Enqueue(keys ...tree.Key) {
	for _, key := range keys {
		k := queue.Key{Class: queue.Subnamespace, Namespace: key.Parent, Name: key.Name}
		c.requestedAt.Add(k)
		c.Urgent.Add(k)
	}
}

// Reconcile does what a Subnamespace needs. The user who created it waits for the last of these writes, so as few as
// possible follow one another: the namespace, then its content in parallel, then the status.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) (err error) {
	defer func() {
		if !errors.Is(err, outcome.ErrUnfinished) {
			c.Copies.Release(key.Name, key.Namespace)
		}
	}()
	k := tree.Key{Parent: key.Namespace, Name: key.Name}
	var s *tree.Subnamespace
	var p plan
	c.Cache.Read(func(state *cache.State) {
		s = state.Tree.SubnamespaceRecord(k)
		p = planFor(state.Tree, k, metav1.Now())
	})
	if s != nil && s.Misbound && !s.Terminating {
		// Rejections mean that the record is not legal any more. It stays as it is.
		if err := c.patch(ctx, s, map[string]any{"metadata": map[string]any{"uid": s.UID}}); !outcome.Rejected(err) {
			return err
		}
	}
	if delay := c.delay(s, p); delay > 0 {
		c.requestedAt.Remove(key)
		c.Urgent.AddAfter(key, delay)
		return nil
	}
	if err := c.carryOut(ctx, k, s, p); err != nil {
		if s != nil && outcome.Rejected(err) && c.longRejected(s) {
			c.refusedAgain(s.Parent)
		}
		return err
	}
	at := c.requestedAt.Remove(key)
	if (p.action == createNamespace || p.action == populate) && !at.IsZero() {
		c.creationSeconds.Observe(time.Since(at).Seconds())
	}
	return nil
}

// delay returns for how long a plan waits that has been rejected for long, while others of its parent or tree are, or
// that writes a large object again: for a report about the Subnamespace, or new metadata in the Hierarchy of a namespace
// that is complete otherwise. Users do not wait for another state.
func (c *Controller) delay(s *tree.Subnamespace, p plan) time.Duration {
	switch {
	case s == nil:
		return 0
	case (p.action == createNamespace || p.action == populate) && c.longRejected(s) && c.refusedLately(s.Parent):
		return wait.Jitter(refusedRetry, 1)
	case p.status.State != s.Status.State:
		return 0
	case p.action == report:
		return c.large.Remaining(s.Parent + "/" + s.Name)
	case p.action == populate && p.setMetadata && !p.setParent && p.creator == nil && !p.unlimited:
		return c.Hierarchies.Delay(s.Name)
	}
	return 0
}

func (c *Controller) carryOut(ctx context.Context, key tree.Key, s *tree.Subnamespace, p plan) error {
	switch p.action {
	case require:
		return c.require(ctx, key)
	case release:
		if err := c.confirmRelease(ctx, s); err != nil {
			return err
		}
		if p.setParent {
			if err := c.syncHierarchy(ctx, s, p); err != nil {
				return err
			}
		}
		return c.removeFinalizer(ctx, s)
	case void:
		return c.markVoid(ctx, s, p)
	case deleteNamespace:
		return c.deleteNamespace(ctx, key, s, p)
	case report:
		return c.writeStatus(ctx, s, p.status)
	case createNamespace:
		p, err := c.protectParent(ctx, key)
		if err != nil {
			return err
		}
		return c.populate(ctx, s, p)
	case populate:
		return c.populate(ctx, s, p)
	}
	return nil
}

// protectParent makes sure that the parent has the label that protects it from being deleted and the finalizer that
// lets it vanish last, and returns the plan that follows. The lock keeps them from being removed by a decision that was
// made before the Subnamespace was known; later ones consider it.
func (c *Controller) protectParent(ctx context.Context, key tree.Key) (plan, error) {
	unlock, err := c.Namespaces.LockProtection(ctx, key.Parent)
	if err != nil {
		return plan{}, err
	}
	defer unlock()
	var parent *tree.Namespace
	var p plan
	decide := func() {
		c.Cache.Read(func(state *cache.State) {
			parent, p = state.Tree.Namespace(key.Parent), planFor(state.Tree, key, metav1.Now())
		})
	}
	if decide(); p.action == createNamespace && p.markParent {
		value := "true"
		if err := c.Namespaces.Patch(ctx, parent, namespace.Changes{
			Labels: map[string]*string{hnc.LabelHasSubnamespaces: &value}, AddFinalizer: true,
		}); err != nil {
			return plan{}, err
		}
		// The parent may be gone by now.
		decide()
	}
	if p.action != createNamespace || p.markParent {
		return plan{}, outcome.ErrStale
	}
	return p, nil
}
