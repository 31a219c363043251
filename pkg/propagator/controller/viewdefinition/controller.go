// Package viewdefinition writes the CustomResourceDefinitions that views have for themselves, reports their status, and
// lets those who have created them use the custom resources.
package viewdefinition

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

// settle is how long changes of Roles and RoleBindings are collected, each of which requires reviews.
const settle = time.Second

// Each CustomResourceDefinition that is written or deleted costs kube-apiserver new handlers and a new OpenAPI
// document, so they change at a rate, half of which one tree may use. What may be done by then is checked again once in
// a while.
const (
	perSecond, burst = 1, 40
	recheck          = 10 * time.Minute
)

// Controller reconciles the CustomResourceDefinitions of views.
type Controller struct {
	controller.Dependencies
	rates *tenantrates.Rates
}

// New returns a Controller.
func New(d controller.Dependencies) *Controller {
	return &Controller{Dependencies: d, rates: tenantrates.New(perSecond, burst)}
}

// all is the key of all namespaces.
var all = queue.Key{Class: queue.Definitions}

func key(namespace string) queue.Key {
	return queue.Key{Class: queue.Definitions, Namespace: namespace}
}

// Handlers returns the handlers that enqueue namespaces.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		DefinitionChanged: func(_ *cache.State, namespace string) { c.Queue.Add(key(namespace)) },
		ViewChanged: func(s *cache.State, namespace string) {
			if len(s.Definitions.Wanted[namespace]) > 0 {
				c.Queue.Add(key(namespace))
			}
		},
		NamespaceChanged: func(s *cache.State, old, ns *tree.Namespace) {
			if (old == nil || old.Terminating != ns.Terminating) && len(s.Definitions.Wanted[ns.Name]) > 0 {
				c.Queue.AddAfter(key(ns.Name), settle)
			}
		},
		ObjectChanged: func(s *cache.State, kind int, old, o *copies.Object) {
			either := cmp.Or(o, old)
			group := s.Kind(kind).Index.Kind.GroupResource()
			if len(s.Definitions.Wanted[either.Namespace]) > 0 && (group == copies.RoleBindings.GroupResource() || group == copies.Roles.GroupResource()) {
				c.Queue.AddAfter(key(either.Namespace), settle)
			}
		},
	}
}

// Start enqueues everything.
func (c *Controller) Start() { c.Queue.Add(all) }

// Reconcile writes the CustomResourceDefinitions of the view of a namespace, the status of its ViewDefinitions, and the
// permissions of their creators.
func (c *Controller) Reconcile(ctx context.Context, k queue.Key) error {
	var p plan
	complete := false
	c.Cache.Read(func(s *cache.State) {
		if complete = s.Definitions.Complete() && s.ViewsListed; !complete {
			return
		}
		if k == all {
			for namespace := range s.Definitions.Wanted {
				c.Queue.Add(key(namespace))
			}
			for namespace := range s.Definitions.CRDs {
				c.Queue.Add(key(namespace))
			}
			return
		}
		p = newPlan(s, k.Namespace)
	})
	if !complete || k == all {
		return nil
	}
	errs := c.carryOutAll(ctx, k, p)
	if p.exists {
		errs = append(errs, c.grant(ctx, k.Namespace, p.steps, p.grants))
	}
	if len(p.steps) > 0 {
		c.Queue.AddAfter(k, recheck)
	}
	return errors.Join(errs...)
}

func (c *Controller) crds() dynamic.ResourceInterface { return c.Dynamic.Resource(hnc.CRDResource) }

// carryOutAll does what the ViewDefinitions of a namespace need, as far as the rates allow.
func (c *Controller) carryOutAll(ctx context.Context, k queue.Key, p plan) (errs []error) {
	for i := range p.steps {
		t := &p.steps[i]
		if t.action.changes() && !c.rates.Allow(time.Now(), c.Cache.Root(k.Namespace), 1) {
			c.Queue.AddAfter(k, time.Second)
			continue
		}
		errs = append(errs, c.carryOut(ctx, t, p.suffix))
	}
	return errs
}

// carryOut does what a ViewDefinition needs, and writes its status.
func (c *Controller) carryOut(ctx context.Context, t *step, suffix string) error {
	namespace := t.definition.Namespace
	var err error
	switch t.action {
	case release:
		return c.release(ctx, t, suffix)
	case remove:
		err = c.remove(ctx, namespace, t.name, t.crd.UID)
	case create, update:
		err = c.write(ctx, t, suffix)
	}
	if outcome.Rejected(err) {
		t.reason, t.message, err = hnc.ReasonDefinitionRefused, err.Error(), nil
	}
	if err != nil {
		return err
	}
	status := statusOf(*t, suffix, metav1.Now())
	if apiequality.Semantic.DeepEqual(status, t.definition.Status) {
		return nil
	}
	v := t.definition.DeepCopy()
	v.Status = status
	written, err := c.Hierarchy.HncV1alpha3().ViewDefinitions(namespace).UpdateStatus(ctx, v, metav1.UpdateOptions{})
	return outcome.Record(c.Metrics, "ViewDefinition", "update", namespace, err, func() { c.Cache.ObserveDefinition(written) })
}

// write creates or updates a CustomResourceDefinition, with the spec that is stored now.
func (c *Controller) write(ctx context.Context, t *step, suffix string) error {
	namespace := t.definition.Namespace
	v, err := c.Hierarchy.HncV1alpha3().ViewDefinitions(namespace).Get(ctx, t.definition.Name, metav1.GetOptions{})
	if err != nil || v.UID != t.definition.UID || v.Generation != t.definition.Generation || v.DeletionTimestamp != nil {
		return errors.Join(outcome.ErrStale, err)
	}
	o, verb := &unstructured.Unstructured{Object: map[string]any{}}, "create"
	if t.action == update {
		verb = "update"
		if o, err = c.crds().Get(ctx, t.name, metav1.GetOptions{}); err != nil {
			return errors.Join(outcome.ErrStale, err)
		}
	}
	if err := fill(o, v, suffix); err != nil {
		return err
	}
	if t.action == update {
		o, err = c.crds().Update(ctx, o, metav1.UpdateOptions{})
	} else {
		o, err = c.crds().Create(ctx, o, metav1.CreateOptions{})
	}
	return outcome.Record(c.Metrics, "CustomResourceDefinition", verb, namespace, err, func() { c.Cache.ObserveViewCRD(o) })
}

func (c *Controller) remove(ctx context.Context, namespace, name string, uid types.UID) error {
	err := c.crds().Delete(ctx, name, *metav1.NewPreconditionDeleteOptions(string(uid)))
	return outcome.Record(c.Metrics, "CustomResourceDefinition", "delete", namespace, err, nil)
}

// release removes our finalizer from a ViewDefinition when its CustomResourceDefinition is gone, which the cache may
// not know of yet. Without the permission to get it, there is none that has just been created.
func (c *Controller) release(ctx context.Context, t *step, suffix string) error {
	v := t.definition
	if suffix != "" {
		o, err := c.crds().Get(ctx, t.name, metav1.GetOptions{})
		if err == nil && o.GetLabels()[hnc.LabelViewRoot] == v.Namespace {
			return c.remove(ctx, v.Namespace, t.name, o.GetUID()) // Its deletion is an event.
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
			return err
		}
	}
	kept := slices.DeleteFunc(slices.Clone(v.Finalizers), func(f string) bool { return f == hnc.FinalizerViewDefinition })
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": v.UID, "resourceVersion": v.ResourceVersion, "finalizers": kept}})
	if err != nil {
		return err
	}
	_, err = c.Hierarchy.HncV1alpha3().ViewDefinitions(v.Namespace).Patch(ctx, v.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return outcome.Record(c.Metrics, "ViewDefinition", "patch", v.Namespace, err, nil)
}
