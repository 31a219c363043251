package propagator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// require creates a Subnamespace that its parent requires. What stands against it is told by a condition of the parent's Hierarchy, and it
// is tried again, later and later.
func (p *Propagator) require(ctx context.Context, key tree.Key) error {
	// A namespace that exists already keeps its labels and annotations.
	p.mu.RLock()
	metadata := p.tree.Metadata(key.Name)
	p.mu.RUnlock()
	created, err := p.Hierarchy.HncV1beta1().Subnamespaces(key.Parent).Create(ctx, &v1beta1.Subnamespace{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Parent, Name: key.Name, Annotations: map[string]string{hnc.AnnotationRequired: "true"}},
		Spec: v1beta1.SubnamespaceSpec{
			Labels: metadata.Labels, Annotations: metadata.Annotations,
			NamespaceLabels: metadata.NamespaceLabels, NamespaceAnnotations: metadata.NamespaceAnnotations,
		},
	}, metav1.CreateOptions{})
	if refused(err) && !apierrors.IsAlreadyExists(err) && !copies.Gone(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		p.mu.Lock()
		p.affect(p.tree.SetRefused(key, err.Error()))
		p.mu.Unlock()
	}
	return p.result("Subnamespace", "create", key.Parent, err, func() { p.enterSubnamespace(created) })
}
