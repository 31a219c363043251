package propagator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
)

// rebuild creates the hierarchies and Subnamespaces that the namespaces tell of. What is there already stays as it is, so it may be done
// again after it was interrupted.
func (p *Propagator) rebuild(ctx context.Context) error {
	p.mu.RLock()
	records := namespaces.Rebuild(p.tree)
	p.mu.RUnlock()
	steps := make([]func() error, len(records))
	for i, r := range records {
		steps[i] = func() error {
			p.bulkSlots <- struct{}{}
			defer func() { <-p.bulkSlots }()
			return p.rebuildOne(ctx, r)
		}
	}
	if err := together(steps); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Rebuilt hierarchies from the namespaces", "namespaces", len(records))
	return nil
}

func (p *Propagator) rebuildOne(ctx context.Context, r namespaces.Rebuilt) error {
	if r.Subnamespace {
		created, err := p.Hierarchy.HncV1beta1().Subnamespaces(r.Parent).Create(ctx, &v1beta1.Subnamespace{
			ObjectMeta: metav1.ObjectMeta{Namespace: r.Parent, Name: r.Name},
			Spec: v1beta1.SubnamespaceSpec{
				Labels: r.Metadata.Labels, Annotations: r.Metadata.Annotations,
				NamespaceLabels: r.Metadata.NamespaceLabels, NamespaceAnnotations: r.Metadata.NamespaceAnnotations,
			},
		}, metav1.CreateOptions{})
		if err := p.rebuilt(ctx, "Subnamespace", r, err, func() { p.enterSubnamespace(created) }); err != nil {
			return err
		}
	}
	h := &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Name, Name: hnc.Singleton},
		Spec: v1beta1.HierarchySpec{
			Parent: r.Parent, Labels: r.Metadata.Labels, Annotations: r.Metadata.Annotations,
			NamespaceLabels: r.Metadata.NamespaceLabels, NamespaceAnnotations: r.Metadata.NamespaceAnnotations,
		},
	}
	if r.Cascading {
		h.Spec.AllowCascadingDeletion = ptr.To(true)
	}
	created, err := p.Hierarchy.HncV1beta1().Hierarchies(r.Name).Create(ctx, h, metav1.CreateOptions{})
	return p.rebuilt(ctx, "Hierarchy", r, err, func() { p.enterHierarchy(created) })
}

// rebuilt returns the error of a creation unless it is no reason to wait: somebody has been faster, or what the namespace tells is not legal.
func (p *Propagator) rebuilt(ctx context.Context, kind string, r namespaces.Rebuilt, err error, enter func()) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if refused(err) {
		klog.FromContext(ctx).Error(err, "Can't rebuild what a namespace tells", "kind", kind, "namespace", r.Name, "parent", r.Parent)
		return nil
	}
	if err := p.result(kind, "create", r.Name, err, enter); err != nil {
		return fmt.Errorf("rebuilding namespace %q: %w", r.Name, err)
	}
	return nil
}
