package restore

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// Controller rebuilds hierarchies when their store is lost.
type Controller struct {
	controller.Dependencies
	store *Store
	// parallelism is how many namespaces are rebuilt at a time.
	parallelism int
}

// New returns a Controller that rebuilds so many namespaces at a time.
func New(d controller.Dependencies, store *Store, parallelism int) *Controller {
	return &Controller{Dependencies: d, store: store, parallelism: parallelism}
}

// retryPeriod is the time between attempts to recognize the store.
const retryPeriod = time.Second

// Run returns once the store is the one of the last time, or its hierarchies are rebuilt. It returns an error when the context ends first.
func (c *Controller) Run(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, retryPeriod, true, func(ctx context.Context) (bool, error) {
		err := c.recognize(ctx)
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Can't determine whether the store of hierarchies is the same; retrying")
		}
		return err == nil, nil
	})
}

func (c *Controller) recognize(ctx context.Context) error {
	system, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // There is nothing to record a store on.
	}
	if err != nil {
		return err
	}
	store, err := c.store.live(ctx)
	if err != nil {
		return err
	}
	known := system.Annotations[hnc.AnnotationStore]
	if known != "" && known != string(store) {
		klog.FromContext(ctx).Info("The API server has another store of hierarchies than the last time; rebuilding them from the namespaces", "store", store, "known", known)
		if err := c.rebuild(ctx); err != nil {
			return err
		}
	}
	if known != string(store) {
		if err := c.store.record(ctx, system, store); err != nil {
			return err
		}
	}
	c.store.known.Store(&store)
	return nil
}

// rebuild creates the hierarchies and Subnamespaces that the labels of the namespaces describe. Existing ones stay as they are, so it can be repeated
// after an interruption.
func (c *Controller) rebuild(ctx context.Context) error {
	var records []record
	c.Cache.Read(func(s *cache.State) { records = plan(s.Tree) })
	var group errgroup.Group
	group.SetLimit(c.parallelism)
	for _, r := range records {
		group.Go(func() error { return c.rebuildOne(ctx, r) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Rebuilt hierarchies from the namespaces", "namespaces", len(records))
	return nil
}

func (c *Controller) rebuildOne(ctx context.Context, r record) error {
	if r.subnamespace {
		created, err := c.Hierarchy.HncV1beta1().Subnamespaces(r.parent).Create(ctx, &v1beta1.Subnamespace{
			ObjectMeta: metav1.ObjectMeta{Namespace: r.parent, Name: r.name},
			Spec: v1beta1.SubnamespaceSpec{
				Labels: r.metadata.Labels, Annotations: r.metadata.Annotations,
				NamespaceLabels: r.metadata.NamespaceLabels, NamespaceAnnotations: r.metadata.NamespaceAnnotations,
			},
		}, metav1.CreateOptions{})
		if err := c.created(ctx, "Subnamespace", r, err, func() { c.Cache.ObserveSubnamespace(created) }); err != nil {
			return err
		}
	}
	h := &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.name, Name: hnc.Singleton},
		Spec: v1beta1.HierarchySpec{
			Parent: r.parent, AbstractAncestors: r.abstract, Labels: r.metadata.Labels, Annotations: r.metadata.Annotations,
			NamespaceLabels: r.metadata.NamespaceLabels, NamespaceAnnotations: r.metadata.NamespaceAnnotations,
		},
	}
	if r.cascading {
		h.Spec.AllowCascadingDeletion = ptr.To(true)
	}
	created, err := c.Hierarchy.HncV1beta1().Hierarchies(r.name).Create(ctx, h, metav1.CreateOptions{})
	return c.created(ctx, "Hierarchy", r, err, func() { c.Cache.ObserveHierarchy(created) })
}

// created returns the error of a creation, unless a retry would not help: the object exists, or what the labels say is not legal.
func (c *Controller) created(ctx context.Context, kind string, r record, err error, observe func()) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if outcome.Rejected(err) {
		klog.FromContext(ctx).Error(err, "Can't rebuild the hierarchy of a namespace", "kind", kind, "namespace", r.name, "parent", r.parent)
		return nil
	}
	if err := outcome.Record(c.Metrics, kind, "create", r.name, err, observe); err != nil {
		return fmt.Errorf("rebuilding namespace %q: %w", r.name, err)
	}
	return nil
}
