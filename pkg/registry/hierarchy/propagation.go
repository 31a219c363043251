package hierarchy

import (
	"context"
	"slices"

	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/ownerref"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// validatePropagation validates a change of spec.propagation: the requester's permissions, then the objects that it
// would overwrite.
func (k hooks) validatePropagation(ctx context.Context, h *hnc.Hierarchy, before []hnc.ResourceSpec) error {
	namespace := genericapirequest.NamespaceValue(ctx)
	if err := addGuard(ctx)(k.tree.Authorizer.AuthorizePropagation(ctx, namespace, h.Spec.Parent)); err != nil {
		return err
	}
	return k.tree.Overwrites.ValidatePropagation(ctx, namespace, before, h.Spec.Propagation)
}

// validatePropagationUpdate validates a changed spec.propagation, or an unchanged one that comes below another parent,
// whose root may be another one, or that applies to a namespace which was created again.
func (k hooks) validatePropagationUpdate(ctx context.Context, h, oldH *hnc.Hierarchy) error {
	if genericregistry.ShouldDeleteDuringUpdate(ctx, "", h, oldH) {
		return k.validatePropagationRemoval(ctx, oldH)
	}
	changed := !slices.Equal(h.Spec.Propagation, oldH.Spec.Propagation) || (len(h.Spec.Propagation) > 0 && h.Spec.Parent != oldH.Spec.Parent)
	if !changed && len(h.Spec.Propagation) > 0 {
		_, bound, err := ownerref.Namespace(ctx, k.tree.Index, oldH)
		if err != nil {
			return err
		}
		changed = !bound
	}
	if changed {
		return k.validatePropagation(ctx, h, oldH.Spec.Propagation)
	}
	return nil
}

// validatePropagationRemoval validates that spec.propagation is removed with the object.
func (k hooks) validatePropagationRemoval(ctx context.Context, h *hnc.Hierarchy) error {
	if len(h.Spec.Propagation) == 0 {
		return nil
	}
	return addGuard(ctx)(k.tree.Authorizer.AuthorizePropagationRemoval(ctx, h.Namespace))
}

// addGuard adds a guard to the fence of the write.
func addGuard(ctx context.Context) func(*fence.Guard, error) error {
	return func(guard *fence.Guard, err error) error {
		if err != nil {
			return err
		}
		return fence.Add(ctx, guard)
	}
}
