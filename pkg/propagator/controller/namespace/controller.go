// Package namespace reconciles the labels and annotations of namespaces: tree labels, managed metadata, and Pod Security labels. What they have to be
// is computed by package desired.
package namespace

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/desired"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Controller reconciles the labels and annotations of namespaces.
type Controller struct {
	controller.Dependencies
}

// New returns a Controller.
func New(d controller.Dependencies) *Controller { return &Controller{Dependencies: d} }

// Handlers returns the handlers that enqueue affected namespaces.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{TreeChanged: func(_ *cache.State, affected tree.Affected) {
		for _, name := range slices.Concat(affected.Moved, affected.Changed) {
			c.Enqueue(name)
		}
	}}
}

// Enqueue asks to reconcile a namespace.
func (c *Controller) Enqueue(name string) {
	c.Queue.Add(queue.Key{Class: queue.Namespace, Namespace: name})
}

// Diverges reports whether a namespace needs other labels or annotations.
func (c *Controller) Diverges(s *cache.State, name string) bool {
	return len(desired.LabelChanges(s.Tree, name))+len(desired.AnnotationChanges(s.Tree, name)) > 0
}

// Reconcile gives a namespace the labels and annotations that it has to have.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	return c.Sync(ctx, key.Namespace)
}

// Sync does so for callers that wait for it.
func (c *Controller) Sync(ctx context.Context, name string) error {
	var ns *tree.Namespace
	var labels, annotations map[string]*string
	c.Cache.Read(func(s *cache.State) {
		ns = s.Tree.Namespace(name)
		labels, annotations = desired.LabelChanges(s.Tree, name), desired.AnnotationChanges(s.Tree, name)
	})
	if len(labels)+len(annotations) == 0 {
		return nil
	}
	return c.Patch(ctx, ns, labels, annotations)
}

// Patch changes labels and annotations of a namespace; nil values remove them. The patch has no resourceVersion if these are written by the
// propagator alone, because no other change of the namespace matters to them. Others write Pod Security labels too, and must not lose what they
// have just written. If annotations are invalid, such as too large with those of the namespace's owner, the labels are changed nevertheless: policies
// select by them.
func (c *Controller) Patch(ctx context.Context, ns *tree.Namespace, labels, annotations map[string]*string) error {
	err := c.patch(ctx, ns, labels, annotations)
	if !apierrors.IsInvalid(err) || len(labels) == 0 || len(annotations) == 0 {
		return err
	}
	if err := c.patch(ctx, ns, labels, nil); err != nil {
		return err
	}
	return c.patch(ctx, ns, nil, annotations)
}

func (c *Controller) patch(ctx context.Context, ns *tree.Namespace, labels, annotations map[string]*string) error {
	metadata := map[string]any{"uid": ns.UID}
	if slices.ContainsFunc(hnc.PodSecurityLabels, func(key string) bool { _, ok := labels[key]; return ok }) {
		metadata["resourceVersion"] = ns.ResourceVersion
	}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	patched, err := c.Kubernetes.CoreV1().Namespaces().Patch(ctx, ns.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return outcome.Record(c.Metrics, "Namespace", "patch", ns.Name, err, func() {
		c.Written(&patched.ObjectMeta)
		c.Cache.ObserveNamespace(patched)
	})
}

// Create creates a namespace.
func (c *Controller) Create(ctx context.Context, namespace *corev1.Namespace) error {
	created, err := c.Kubernetes.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	return outcome.Record(c.Metrics, "Namespace", "create", namespace.Name, err, func() { c.Cache.ObserveNamespace(created) })
}

// Delete deletes a namespace of the given version: one that was changed since, and may not be a sub-namespace any more, is evaluated again first.
func (c *Controller) Delete(ctx context.Context, name string, uid types.UID, resourceVersion string) error {
	err := c.Kubernetes.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &resourceVersion},
	})
	// The watch brings what follows.
	return outcome.Record(c.Metrics, "Namespace", "delete", name, err, nil)
}

// Refresh reads a namespace from the API server into the cache.
func (c *Controller) Refresh(ctx context.Context, name string) error {
	live, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		c.Cache.ObserveNamespace(live)
	}
	return err
}
