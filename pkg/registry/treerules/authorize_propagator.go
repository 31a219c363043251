package treerules

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// AuthorizePropagator authorizes a parent that the propagator sets, and returns a guard that demands that what it has
// read is unchanged. The propagator has no permissions of its own in the tree: it repeats the edge of the namespace or,
// after a loss of the hierarchies, restores the parent from the tree labels, which only it can write. At any other time,
// the labels may lag behind a namespace that has left its parent. Requests of other users pass, with a nil guard.
func (a *Authorizer) AuthorizePropagator(ctx context.Context, namespace *corev1.Namespace, parent string, restoring bool) (*fence.Guard, error) {
	if parent == "" || !accessreview.ByPropagator(ctx) {
		return nil, nil
	}
	return a.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		guard := &fence.Guard{}
		e, err := s.edge(ctx, namespace.Name)
		if err != nil {
			return nil, err
		}
		if e.Parent == parent {
			if effective, err := s.effective(ctx, namespace.Name, e); err != nil || effective {
				return guard, err
			}
		}
		current, err := s.namespace(ctx, namespace.Name)
		if err != nil {
			return nil, err
		}
		if restoring && current != nil && hnc.IsLabeledChild(current.Labels, hnc.AbstractAncestors(current.Annotations), parent) {
			return guard, nil
		}
		return nil, newRejection(ctx, hnc.Singleton).forbidden("spec.parent: neither a Subnamespace nor, in a restore, the tree labels of namespace %q make it a child of %q; "+
			"set spec.parent as a user who may move the namespace", namespace.Name, parent)
	})
}
