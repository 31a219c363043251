package hierarchy

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/transaction"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// REST serves hierarchies. The propagator creates an empty one in a namespace of which it has a status to report. A client that creates
// a Hierarchy there does not have to know: its request replaces the empty one.
type REST struct {
	*transaction.Store
}

// Create creates a Hierarchy, or replaces one that nobody but the propagator has ever written. That takes no right to update: nothing that
// a user has asked for is changed.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Store.Create(ctx, obj, validate, options)
	if !apierrors.IsAlreadyExists(err) || tree.ByPropagator(ctx) {
		return created, err
	}
	exists := err
	replaced, _, err := r.Update(ctx, hnc.Singleton, rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		was := old.(*hnc.Hierarchy)
		if !unspecified(was) {
			return nil, exists
		}
		h := obj.DeepCopyObject().(*hnc.Hierarchy)
		h.UID, h.ResourceVersion, h.CreationTimestamp = was.UID, was.ResourceVersion, was.CreationTimestamp
		h.ManagedFields = slices.Concat(was.ManagedFields, h.ManagedFields)
		return h, nil
	}), nil, func(ctx context.Context, obj, _ runtime.Object) error {
		if validate == nil {
			return nil
		}
		return validate(ctx, obj)
	}, false, &metav1.UpdateOptions{DryRun: options.DryRun, FieldManager: options.FieldManager, FieldValidation: options.FieldValidation})
	if apierrors.IsNotFound(err) {
		// It was deleted in between, which is as good a reason to try again as the client had before.
		return nil, exists
	}
	return replaced, err
}

// unspecified says whether nobody but the propagator has written a Hierarchy. Clients can't write the generation; the rest is compared
// because earlier versions may have stored objects without one.
func unspecified(h *hnc.Hierarchy) bool {
	return h.Generation == 0 && h.DeletionTimestamp == nil && len(h.Labels)+len(h.Annotations)+len(h.Finalizers) == 0 &&
		apiequality.Semantic.DeepEqual(h.Spec, hnc.HierarchySpec{})
}
