package restore

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// rebuild creates the hierarchies and Subnamespaces that the labels of the namespaces describe. Existing ones stay as
// they are, so it can be repeated after an interruption.
func (c *Controller) rebuild(ctx context.Context) error {
	var records []record
	c.Cache.Read(func(s *cache.State) { records = plan(s.Tree) })
	if err := c.forEachRecord(ctx, records, c.rebuildOne); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Rebuilt hierarchies from the namespaces", "namespaces", len(records))
	return nil
}

func (c *Controller) forEachRecord(ctx context.Context, records []record, f func(context.Context, record) error) error {
	var group errgroup.Group
	group.SetLimit(c.Parallelism)
	for _, r := range records {
		group.Go(func() error { return f(ctx, r) })
	}
	return group.Wait()
}

func (c *Controller) rebuildOne(ctx context.Context, r record) error {
	if r.subnamespace {
		if err := c.createSubnamespace(ctx, r); err != nil {
			return err
		}
	}
	return c.createHierarchy(ctx, r)
}

func (c *Controller) createSubnamespace(ctx context.Context, r record) error {
	created, err := c.Hierarchy.HncV1beta1().Subnamespaces(r.parent).Create(ctx, &v1beta1.Subnamespace{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.parent, Name: r.name},
		Spec: v1beta1.SubnamespaceSpec{
			Labels: r.metadata.Labels, Annotations: r.metadata.Annotations,
			NamespaceLabels: r.metadata.NamespaceLabels, NamespaceAnnotations: r.metadata.NamespaceAnnotations,
		},
	}, metav1.CreateOptions{})
	return c.afterWrite(ctx, "Subnamespace", "create", r, err, func() {
		c.Written(&created.ObjectMeta)
		c.Cache.ObserveSubnamespace(created)
	})
}

// restoring are the annotations with which requests restore parents that only the tree labels name.
var restoring = map[string]string{hnc.AnnotationRestoring: "true"}

func (c *Controller) createHierarchy(ctx context.Context, r record) error {
	h := &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.name, Name: hnc.Singleton, Annotations: restoring},
		Spec: v1beta1.HierarchySpec{
			Parent: r.parent, AbstractAncestors: r.abstract, Labels: r.metadata.Labels, Annotations: r.metadata.Annotations,
			NamespaceLabels: r.metadata.NamespaceLabels, NamespaceAnnotations: r.metadata.NamespaceAnnotations,
		},
	}
	if r.cascading {
		h.Spec.AllowCascadingDeletion = ptr.To(true)
	}
	created, err := c.Hierarchy.HncV1beta1().Hierarchies(r.name).Create(ctx, h, metav1.CreateOptions{})
	return c.afterWrite(ctx, "Hierarchy", "create", r, err, func() {
		c.Written(&created.ObjectMeta)
		c.Cache.ObserveHierarchy(created)
	})
}

// afterWrite returns the error of a write, unless a retry would not help: the object exists, or what the labels say is
// not legal.
func (c *Controller) afterWrite(ctx context.Context, kind, verb string, r record, err error, observe func()) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if outcome.Rejected(err) && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "Can't rebuild the hierarchy of a namespace", "kind", kind, "namespace", r.name, "parent", r.parent)
		return nil
	}
	if err := outcome.Record(c.Metrics, kind, verb, r.name, err, observe); err != nil {
		return fmt.Errorf("rebuilding namespace %q: %w", r.name, err)
	}
	return nil
}
