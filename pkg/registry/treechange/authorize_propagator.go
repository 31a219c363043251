package treechange

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/review"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// AuthorizePropagator authorizes a parent that the propagator sets. The propagator has no permissions of its own in the
// tree: it repeats the edge of the namespace, or restores the parent from the tree labels, which only it can write.
// Requests of other users pass.
func (a *Authorizer) AuthorizePropagator(ctx context.Context, namespace *corev1.Namespace, parent string) error {
	if parent == "" || !review.ByPropagator(ctx) {
		return nil
	}
	_, err := a.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		e, err := s.edge(ctx, namespace.Name)
		if err != nil {
			return nil, err
		}
		if e.Parent == parent {
			if effective, err := s.effective(ctx, namespace.Name, e); err != nil || effective {
				return nil, err
			}
		}
		current, err := s.namespace(ctx, namespace.Name)
		if err != nil || (current != nil && hnc.IsLabeledChild(current.Labels, hnc.AbstractAncestors(current.Annotations), parent)) {
			return nil, err
		}
		return nil, newRejection(ctx, hnc.Singleton).forbidden("spec.parent: neither a Subnamespace nor the tree labels of namespace %q make it a child of %q; "+
			"set spec.parent as a user who may move the namespace", namespace.Name, parent)
	})
	return err
}
