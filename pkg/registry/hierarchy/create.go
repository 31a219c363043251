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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// Create creates a Hierarchy. The propagator creates an empty one in a namespace with a status to report; a user's
// request replaces that one, so that clients do not have to expect it. This needs no permission to update, because it
// changes nothing that a user has written.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	before := r.above(ctx)
	created, err := r.Store.Create(ctx, obj, validate, options)
	if err == nil {
		r.wait(ctx, created.(*hnc.Hierarchy), before, options.DryRun)
	}
	if !apierrors.IsAlreadyExists(err) || accessreview.ByPropagator(ctx) {
		return created, err
	}
	exists := err
	replaced, _, err := r.Update(ctx, hnc.Singleton, rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		oldH := old.(*hnc.Hierarchy)
		if !isUnspecified(oldH) {
			return nil, exists
		}
		h := obj.DeepCopyObject().(*hnc.Hierarchy)
		h.UID, h.ResourceVersion, h.CreationTimestamp = oldH.UID, oldH.ResourceVersion, oldH.CreationTimestamp
		h.ManagedFields = slices.Concat(oldH.ManagedFields, h.ManagedFields)
		return h, nil
	}), nil, func(ctx context.Context, obj, _ runtime.Object) error {
		if validate == nil {
			return nil
		}
		return validate(ctx, obj)
	}, false, &metav1.UpdateOptions{DryRun: options.DryRun, FieldManager: options.FieldManager, FieldValidation: options.FieldValidation})
	if apierrors.IsNotFound(err) {
		// It has been deleted in the meantime; the client may try again.
		return nil, exists
	}
	return replaced, err
}

// isUnspecified reports whether only the propagator has written a Hierarchy. Clients cannot write the generation. The
// other fields are compared because earlier versions may have stored objects without a generation.
func isUnspecified(h *hnc.Hierarchy) bool {
	return h.Generation == 0 && h.DeletionTimestamp == nil && len(h.Labels)+len(h.Annotations)+len(h.Finalizers) == 0 &&
		apiequality.Semantic.DeepEqual(h.Spec, hnc.HierarchySpec{})
}
