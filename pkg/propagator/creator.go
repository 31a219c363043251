package propagator

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// bindCreator gives who has asked for a sub-namespace their role there. The namespace has been created with a note that this is due, which
// goes afterwards: so it is done once, whenever this process ends, and whoever removes the binding later has removed it for good.
func (p *Propagator) bindCreator(ctx context.Context, s *tree.Subnamespace, binding *rbacv1.RoleBinding) error {
	_, err := p.Kubernetes.RbacV1().RoleBindings(binding.Namespace).Create(ctx, binding, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	// The watch brings it: it is a source like any other.
	if err := p.result("RoleBinding", "create", binding.Namespace, err, func() {}); err != nil {
		return err
	}
	p.mu.RLock()
	ns := p.tree.Namespace(s.Name)
	p.mu.RUnlock()
	if ns == nil || ns.CreatorPending != s.UID {
		return nil
	}
	return p.label(ctx, ns, nil, map[string]*string{hnc.AnnotationCreatorPending: nil})
}
