// Package tenantview gives hns-gateway in the namespaces of TenantViews, and in no others, the permission to act as the
// callers of requests: a RoleBinding that is propagated as any other. It reports the status of TenantViews.
package tenantview

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Controller reconciles TenantViews.
type Controller struct {
	controller.Dependencies
	// window is how long changes of a status are collected before it is written.
	window time.Duration
	// unavailable says why the gateway cannot be used, "" if it can.
	unavailable atomic.Pointer[string]
}

// New returns a Controller that collects changes of a status for the window.
func New(d controller.Dependencies, window time.Duration) *Controller {
	c := &Controller{Dependencies: d, window: window}
	unknown := "the APIService " + hnc.ViewAPIService.Name + " was not read yet"
	c.unavailable.Store(&unknown)
	return c
}

// all is the key of all TenantViews, and of the gateway.
var all = queue.Key{Class: queue.View}

// Handlers returns the handlers that enqueue namespaces.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{
		ViewChanged: func(s *cache.State, namespace string) {
			c.enqueue(namespace)
			// What is below it inherits its grant, or loses it.
			for name := range s.Views {
				if slices.Contains(s.Tree.Ancestors(name), namespace) {
					c.enqueue(name)
				}
			}
		},
		KindsAnnounced: func(*cache.State) { c.Queue.AddAfter(all, c.window) },
		TreeChanged: func(s *cache.State, affected tree.Affected) {
			if len(s.Views) == 0 || len(affected.Moved) == 0 {
				return
			}
			for _, moved := range affected.Moved {
				for _, name := range s.Tree.Chain(moved) {
					if s.Views[name] != nil {
						c.Queue.AddAfter(queue.Key{Class: queue.View, Namespace: name}, c.window)
					}
				}
			}
			// The chain before the move may have had others.
			c.Queue.AddAfter(all, 5*c.window)
		},
		ObjectChanged: func(s *cache.State, kind int, old, o *copies.Object) {
			either := cmp.Or(o, old)
			if either.Name != hnc.ViewGrant || s.Kind(kind).Index.Kind.GroupResource() != copies.RoleBindings.GroupResource() {
				return
			}
			if s.Views[either.Namespace] != nil || !either.Copy {
				c.enqueue(either.Namespace)
			}
		},
	}
}

// Start enqueues everything.
func (c *Controller) Start() { c.Queue.Add(all) }

func (c *Controller) enqueue(namespace string) {
	c.Queue.Add(queue.Key{Class: queue.View, Namespace: namespace})
}

// Reconcile writes the grant and the status of a TenantView.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	if key == all {
		return c.reconcileAll(ctx)
	}
	namespace := key.Namespace
	var p plan
	c.Cache.Read(func(s *cache.State) { p = newPlan(s, namespace, *c.unavailable.Load(), metav1.Now()) })
	bindings := c.Kubernetes.RbacV1().RoleBindings(namespace)
	switch p.action {
	case create:
		// Anything else of that name would keep the gateway from the namespace.
		existing, err := bindings.Get(ctx, hnc.ViewGrant, metav1.GetOptions{})
		if err == nil && !isGrant(existing) {
			err = bindings.Delete(ctx, hnc.ViewGrant, *metav1.NewPreconditionDeleteOptions(string(existing.UID)))
		}
		if err == nil || apierrors.IsNotFound(err) {
			_, err = bindings.Create(ctx, grant(), metav1.CreateOptions{})
		}
		if err := outcome.Record(c.Metrics, "RoleBinding", "create", namespace, err, nil); err != nil {
			return err
		}
	case remove:
		err := bindings.Delete(ctx, hnc.ViewGrant, *metav1.NewPreconditionDeleteOptions(string(p.grant.UID)))
		if err := outcome.Record(c.Metrics, "RoleBinding", "delete", namespace, err, nil); err != nil {
			return err
		}
	}
	if p.view == nil {
		return nil
	}
	written, err := c.Hierarchy.HncV1alpha3().TenantViews(namespace).UpdateStatus(ctx, p.view, metav1.UpdateOptions{})
	return outcome.Record(c.Metrics, "TenantView", "update", namespace, err, func() { c.Cache.ObserveView(written) })
}

// grant is the RoleBinding.
func grant() *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: hnc.ViewGrant},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: hnc.ViewGrantRole},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: hnc.SystemNamespace, Name: hnc.GatewayName}},
	}
}

// isGrant reports whether a RoleBinding grants what it must.
func isGrant(b *rbacv1.RoleBinding) bool {
	wanted := grant()
	return b.RoleRef == wanted.RoleRef && apiequality.Semantic.DeepEqual(b.Subjects, wanted.Subjects)
}

// reconcileAll finds out whether the gateway can be used, and enqueues the TenantViews and grants that are not right.
func (c *Controller) reconcileAll(ctx context.Context) error {
	unavailable, err := c.whyUnavailable(ctx)
	if err != nil {
		return err
	}
	c.unavailable.Store(&unavailable)
	c.Cache.Read(func(s *cache.State) {
		now := metav1.Now()
		diverges := func(namespace string) bool {
			p := newPlan(s, namespace, unavailable, now)
			return p.action != keep || p.view != nil
		}
		for namespace := range s.Views {
			if diverges(namespace) {
				c.enqueue(namespace)
			}
		}
		kind, known := s.KindOf(copies.RoleBindings.GroupResource())
		if !known {
			return
		}
		for _, namespace := range s.Tree.Names() {
			if grant := s.Kind(kind).Index.Get(namespace, hnc.ViewGrant); grant != nil && !grant.Copy && s.Views[namespace] == nil && diverges(namespace) {
				c.enqueue(namespace)
			}
		}
	})
	return nil
}

// whyUnavailable returns why the gateway cannot be used, "" if it can.
func (c *Controller) whyUnavailable(ctx context.Context) (string, error) {
	o, err := c.Dynamic.Resource(hnc.APIServiceResource).Get(ctx, hnc.ViewAPIService.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "hns-gateway is not installed", nil
	case err != nil:
		return "", err
	}
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(conditions, func(c any) bool { m, ok := c.(map[string]any); return ok && m["type"] == "Available" })
	if at < 0 {
		return fmt.Sprintf("the APIService %s is not available yet", hnc.ViewAPIService.Name), nil
	}
	if available := conditions[at].(map[string]any); available["status"] != "True" {
		return fmt.Sprintf("the APIService %s is not available: %v; see the log of hns-gateway", hnc.ViewAPIService.Name, available["message"]), nil
	}
	return "", nil
}
