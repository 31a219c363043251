// Package hierarchy reconciles Hierarchies: their status, their binding to the namespace, and their existence where a
// namespace has children or conditions to report.
package hierarchy

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/pacing"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Controller reconciles Hierarchies.
type Controller struct {
	controller.Dependencies
	// window is how long changes of a status are collected before it is written.
	window time.Duration
	// conditions receives the conditions of a namespace each time that they are evaluated.
	conditions func(namespace string, conditions []metav1.Condition)
	// childLists delays lists of children after the previous write: each write is as large as the list, and while a
	// tree is built there is a new child all the time. Of many children it delays the whole status, which contains
	// them.
	childLists *pacing.Cooldown
	// creations delays new Hierarchies in namespaces that appeared after their children: clients that apply a directory
	// look whether there is a Hierarchy, find none, and would fail to create it.
	creations *pacing.Cooldown
	// pace delays the statuses of large Hierarchies, and new metadata of Subnamespaces in them, by large.
	pace  pacing.Pace
	large *pacing.Cooldown
	// uncertain are the namespaces whose status may or may not be as it was written last, because the answer was lost.
	uncertain sync.Map
}

// manyChildren is the number of children above which a status is written once in fifty windows, whatever changes.
const manyChildren = 500

// New returns a Controller that collects changes of a status for the window, writes growing lists of children once in
// ten windows, or fifty if they are long, and passes on the conditions of the namespaces that it evaluates.
func New(d controller.Dependencies, window time.Duration, conditions func(namespace string, conditions []metav1.Condition)) *Controller {
	return &Controller{
		Dependencies: d, window: window, conditions: conditions,
		childLists: pacing.New(10 * window), creations: pacing.New(20 * window), pace: pacing.NewPace(), large: pacing.New(window),
	}
}

// Handlers returns the handlers that enqueue affected namespaces.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		TreeChanged: func(_ *cache.State, affected tree.Affected) {
			for _, name := range slices.Concat(affected.Moved, affected.Changed) {
				c.Enqueue(name)
			}
		},
		NamespaceChanged: func(s *cache.State, old, ns *tree.Namespace) {
			if old == nil && s.Tree.HasChildren(ns.Name) {
				c.creations.Start(ns.Name)
			}
		},
	}
}

// Enqueue asks to reconcile the Hierarchy of a namespace once the window is over.
func (c *Controller) Enqueue(namespace string) {
	c.Queue.AddAfter(queue.Key{Class: queue.Status, Namespace: namespace}, c.window)
}

// Diverges reports whether the status of a namespace's Hierarchy has to be written. It passes on the conditions.
func (c *Controller) Diverges(s *cache.State, namespace string) bool {
	c.conditions(namespace, namespacestate.Conditions(s.Tree, namespace))
	return Plan(s.Tree, namespace, metav1.Now()) != nil
}

// Reconcile writes the status of a namespace's Hierarchy, and creates or binds the Hierarchy if necessary.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	namespace := key.Namespace
	if err := c.refresh(ctx, namespace); err != nil {
		return err
	}
	var p *StatusPlan
	c.Cache.Read(func(s *cache.State) {
		p = Plan(s.Tree, namespace, metav1.Now())
		c.conditions(namespace, namespacestate.Conditions(s.Tree, namespace))
	})
	var delay time.Duration
	switch {
	case p == nil:
		return nil
	case p.Create:
		delay = c.creations.Remaining(namespace)
	case p.OnlyChildren || len(p.Status.Children) > manyChildren:
		delay = c.childLists.Remaining(namespace)
	}
	if !p.Create && !p.Bind {
		delay = max(delay, c.Delay(namespace))
	}
	if delay > 0 {
		c.Queue.AddAfter(key, delay)
		return nil
	}
	if p.Create {
		return c.Create(ctx, namespace, p.Parent, p.Metadata)
	}
	if p.Bind {
		// Rejections mean that the parent is not legal any more, which the conditions report.
		if err := c.bind(ctx, p.Hierarchy); !outcome.Rejected(err) {
			return err
		}
	}
	return c.writeStatus(ctx, p)
}

func (c *Controller) writeStatus(ctx context.Context, p *StatusPlan) error {
	status := map[string]any{
		"observedGeneration": p.Status.ObservedGeneration, "children": nil, "conditions": p.Status.Conditions, "problems": p.Status.Problems,
	}
	if len(p.Status.Children) > 0 {
		status["children"] = p.Status.Children
	}
	patch := map[string]any{"metadata": map[string]any{"uid": p.Hierarchy.UID}, "status": status}
	err := c.patch(ctx, p.Hierarchy, patch, "status")
	switch {
	case err != nil:
		c.uncertain.Store(p.Hierarchy.Namespace, true)
	case len(p.Status.Children) > manyChildren:
		c.childLists.StartFor(p.Hierarchy.Namespace, 50*c.window)
	case len(p.Status.Children) > 0:
		c.childLists.Start(p.Hierarchy.Namespace)
	}
	return err
}

// refresh reads a Hierarchy whose status is uncertain: what the cache contains may look right, and not be what is
// stored.
func (c *Controller) refresh(ctx context.Context, namespace string) error {
	if _, ok := c.uncertain.Load(namespace); !ok {
		return nil
	}
	live, err := c.Hierarchy.HncV1beta1().Hierarchies(namespace).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	switch {
	case err == nil:
		c.Cache.ObserveHierarchy(live)
	case !copies.Gone(err):
		return err
	}
	c.uncertain.Delete(namespace)
	return nil
}

// bind makes the API server bind a Hierarchy to its namespace, which every write does.
func (c *Controller) bind(ctx context.Context, h *tree.Hierarchy) error {
	return c.patch(ctx, h, map[string]any{"metadata": map[string]any{"uid": h.UID}})
}

// Create creates the Hierarchy of a namespace.
func (c *Controller) Create(ctx context.Context, namespace, parent string, metadata tree.Metadata) error {
	created, err := c.Hierarchy.HncV1beta1().Hierarchies(namespace).Create(ctx, &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton},
		Spec: v1beta1.HierarchySpec{
			Parent: parent, Labels: metadata.Labels, Annotations: metadata.Annotations,
			NamespaceLabels: metadata.NamespaceLabels, NamespaceAnnotations: metadata.NamespaceAnnotations,
		},
	}, metav1.CreateOptions{})
	return outcome.Record(c.Metrics, "Hierarchy", "create", namespace, err, func() { c.Cache.ObserveHierarchy(created) })
}

// Delay returns for how long the Hierarchy of a namespace should not be written again, because it is large.
func (c *Controller) Delay(namespace string) time.Duration { return c.large.Remaining(namespace) }

// Adopt gives the Hierarchy of a sub-namespace the parent and the metadata that its Subnamespace specifies. The version
// is part of the patch: a parent that a user has set in the meantime stays.
func (c *Controller) Adopt(ctx context.Context, h *tree.Hierarchy, s *tree.Subnamespace, setParent, setMetadata bool) error {
	spec := map[string]any{}
	if setParent {
		spec["parent"] = s.Parent
	}
	if setMetadata {
		spec["labels"], spec["annotations"] = s.Metadata.Labels, s.Metadata.Annotations
		spec["namespaceLabels"], spec["namespaceAnnotations"] = s.Metadata.NamespaceLabels, s.Metadata.NamespaceAnnotations
	}
	return c.patch(ctx, h, map[string]any{
		"metadata": map[string]any{"uid": h.UID, "resourceVersion": h.ResourceVersion},
		"spec":     spec,
	})
}

func (c *Controller) patch(ctx context.Context, h *tree.Hierarchy, patch map[string]any, subresources ...string) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	patched, err := c.Hierarchy.HncV1beta1().Hierarchies(h.Namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	return outcome.Record(c.Metrics, "Hierarchy", "patch", h.Namespace, err, func() {
		c.Cache.ObserveHierarchy(patched)
		if delay := c.pace.Written(time.Now(), c.Cache.Root(h.Namespace), h.ResourceVersion, patched); delay > 0 {
			c.large.StartFor(h.Namespace, delay)
		}
	})
}
