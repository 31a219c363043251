package hierarchy

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/ownerref"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// hooks are the hooks of the store. They validate and authorize a write against the tree, and set its fence.
type hooks struct {
	tree    *treerules.Tree
	changes *changerates.Changes
}

// beginCreate validates a new object. spec.propagation comes last.
func (k hooks) beginCreate(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	if err := k.tree.AwaitRebuild(ctx); err != nil {
		return nil, err
	}
	h := obj.(*hnc.Hierarchy)
	if err := k.validateCreate(ctx, h); err != nil {
		return nil, err
	}
	if len(h.Spec.Propagation) > 0 {
		if err := k.validatePropagation(ctx, h, nil); err != nil {
			return nil, err
		}
	}
	return base.FinishNothing, k.change(ctx, h, "update")
}

// change limits how often what is inherited by many namespaces changes, in the tree that they are in before. The
// propagator only follows changes of others.
func (k hooks) change(ctx context.Context, h *hnc.Hierarchy, verb string) error {
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	return k.changes.Allow(ctx, k.tree.Index.Root(h.Namespace), changerates.Below(k.tree.Index.Below(h.Namespace)), verb)
}

// beginUpdate validates an update. spec.propagation comes last.
func (k hooks) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	if err := k.tree.AwaitRebuild(ctx); err != nil {
		return nil, err
	}
	h, oldH := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	if err := k.validateUpdate(ctx, h, oldH); err != nil {
		return nil, err
	}
	if err := k.validatePropagationUpdate(ctx, h, oldH); err != nil {
		return nil, err
	}
	if apiequality.Semantic.DeepEqual(h.Spec, oldH.Spec) && !genericregistry.ShouldDeleteDuringUpdate(ctx, "", h, oldH) {
		return base.FinishNothing, nil
	}
	return base.FinishNothing, k.change(ctx, h, "update")
}

// beginDelete validates a deletion. spec.propagation comes last.
func (k hooks) beginDelete(ctx context.Context, obj runtime.Object) error {
	h := obj.(*hnc.Hierarchy)
	if err := k.tree.AwaitRebuildOf(ctx, h.Namespace); err != nil {
		return err
	}
	if err := k.validateDelete(ctx, h); err != nil {
		return err
	}
	if h.DeletionTimestamp == nil {
		if err := k.validatePropagationRemoval(ctx, h); err != nil {
			return err
		}
		return k.change(ctx, h, "delete")
	}
	return nil
}

// validateCreate binds the new object to its namespace and validates its parent. If the object names none, a namespace
// that a Subnamespace holds keeps its parent.
func (k hooks) validateCreate(ctx context.Context, h *hnc.Hierarchy) error {
	if err := invalid(h, validation.ValidateHierarchy(h, k.tree.Authorizer.ManagedKeys(ctx))); err != nil {
		return err
	}
	namespace, err := k.namespace(ctx)
	if err != nil {
		return err
	}
	if h.Spec.Parent == "" {
		if h.Spec.Parent, err = k.tree.Claims.Holder(ctx, namespace); err != nil {
			return err
		}
	}
	if err := k.authorizePodSecurity(ctx, namespace.Name, hnc.HierarchySpec{}, h.Spec); err != nil {
		return err
	}
	if err := k.move(ctx, h, nil, namespace); err != nil {
		return err
	}
	if err := k.validateAbstract(ctx, h, nil, namespace); err != nil {
		return err
	}
	return k.validateRequired(ctx, h, nil, namespace)
}

// validateUpdate validates new required children, and a changed parent, or an unchanged one if the object was bound to
// an earlier namespace. Removing the last finalizer of a deleted object takes the namespace out of its tree, and is
// validated again, because permissions may have changed since the deletion was requested.
func (k hooks) validateUpdate(ctx context.Context, h, oldH *hnc.Hierarchy) error {
	if genericregistry.ShouldDeleteDuringUpdate(ctx, "", h, oldH) {
		if err := k.authorizePodSecurityRemoval(ctx, oldH); err != nil {
			return err
		}
		if err := k.remove(ctx, oldH); err != nil {
			return err
		}
		return k.validateAbstractRemoval(ctx, oldH)
	}
	if oldH.DeletionTimestamp != nil && h.Spec.Parent != "" && h.Spec.Parent != oldH.Spec.Parent {
		return apierrors.NewForbidden(hnc.Resource("hierarchies"), h.Name, fmt.Errorf("spec.parent: the hierarchy of namespace %q is being deleted "+
			"and takes no new parent; remove its finalizers %v, then create it again", h.Namespace, oldH.Finalizers))
	}
	if err := invalid(h, validation.ValidateHierarchyUpdate(h, oldH, k.tree.Authorizer.ManagedKeys(ctx))); err != nil {
		return err
	}
	namespace, bound, err := ownerref.Namespace(ctx, k.tree.Index, oldH)
	if err != nil {
		return err
	}
	if err := k.authorizePodSecurity(ctx, namespace.Name, oldH.Spec, h.Spec); err != nil {
		return err
	}
	if err := k.authorizeSharedNames(ctx, h, oldH); err != nil {
		return err
	}
	if h.Spec.Parent == oldH.Spec.Parent && bound {
		ownerref.Set(ctx, h, namespace)
		if !apiequality.Semantic.DeepEqual(h.Spec, oldH.Spec) {
			if err := k.tree.Moves.ValidateUnchanged(ctx, namespace, h.Spec.Parent); err != nil {
				return err
			}
		}
		if err := k.validateRequired(ctx, h, oldH.Spec.RequiredChildren, namespace); err != nil {
			return err
		}
		if err := fence.Set(ctx, nil); err != nil {
			return err
		}
		return k.validateAbstract(ctx, h, oldH.Spec.AbstractAncestors, namespace)
	}
	if namespace.DeletionTimestamp != nil && !apiequality.Semantic.DeepEqual(h.Spec, oldH.Spec) {
		return apierrors.NewForbidden(hnc.Resource("hierarchies"), h.Name,
			fmt.Errorf("namespace %q is being deleted, and its parent can no longer change", namespace.Name))
	}
	if err := k.move(ctx, h, oldH, namespace); err != nil {
		return err
	}
	known, abstract := oldH.Spec.RequiredChildren, oldH.Spec.AbstractAncestors
	if !bound {
		known, abstract = nil, nil
	}
	if err := k.validateAbstract(ctx, h, abstract, namespace); err != nil {
		return err
	}
	return k.validateRequired(ctx, h, known, namespace)
}

// validateDelete validates that the namespace becomes a root. An object with finalizers is only marked as deleted.
func (k hooks) validateDelete(ctx context.Context, h *hnc.Hierarchy) error {
	if h.DeletionTimestamp != nil {
		return fence.Set(ctx, &fence.Guard{KeepsObject: true})
	}
	if err := k.authorizePodSecurityRemoval(ctx, h); err != nil {
		return err
	}
	if err := k.remove(ctx, h); err != nil {
		return err
	}
	if err := k.validateAbstractRemoval(ctx, h); err != nil || len(h.Finalizers) == 0 {
		return err
	}
	return fence.Set(ctx, &fence.Guard{KeepsObject: true})
}

// remove validates the removal of the object, and sets its fence.
func (k hooks) remove(ctx context.Context, h *hnc.Hierarchy) error {
	guard, err := k.tree.Moves.ValidateRemoval(ctx, h.Namespace)
	if err != nil {
		return err
	}
	return fence.Set(ctx, guard)
}

// move binds the object to its namespace, validates its parent, and sets the fence. oldH is nil for a new object.
func (k hooks) move(ctx context.Context, h, oldH *hnc.Hierarchy, namespace *corev1.Namespace) error {
	ownerref.Set(ctx, h, namespace)
	unchanged, err := k.tree.Authorizer.AuthorizePropagator(ctx, namespace, h.Spec.Parent, h.Annotations[hnc.AnnotationRestoring] == "true")
	if err != nil {
		return err
	}
	if exceedsQuotas(ctx, h, oldH) {
		ctx = treerules.WithExceedingQuotas(ctx)
	}
	guard, err := k.tree.Moves.Validate(treerules.WithRequest(ctx, h), namespace, h.Spec.Parent)
	if err != nil {
		return err
	}
	if err := fence.Set(ctx, guard); err != nil || unchanged == nil {
		return err
	}
	return fence.Add(ctx, unchanged)
}

// exceedsQuotas reports whether the request says that the move may exceed quotas. It is the wish of who moves, so only
// the annotation that the request itself sets counts. It is not stored; objects that were written when it was may have
// been annotated by anybody.
func exceedsQuotas(ctx context.Context, h, oldH *hnc.Hierarchy) bool {
	if h.Annotations[hnc.AnnotationExceedQuotas] != "true" {
		return false
	}
	if oldH == nil || oldH.Annotations[hnc.AnnotationExceedQuotas] == "" {
		return true
	}
	warning.AddWarning(ctx, "", fmt.Sprintf("metadata.annotations[%s]: it was stored by an earlier version and does not count; "+
		"remove it with a request that does not change spec.parent, and set it again together with spec.parent", hnc.AnnotationExceedQuotas))
	return false
}

// validateRequired validates the required children that are not known already.
func (k hooks) validateRequired(ctx context.Context, h *hnc.Hierarchy, known []string, namespace *corev1.Namespace) error {
	names := map[int]string{}
	for i, name := range h.Spec.RequiredChildren {
		if !slices.Contains(known, name) {
			names[i] = name
		}
	}
	return k.tree.Claims.ValidateRequired(ctx, names, namespace)
}

func (k hooks) namespace(ctx context.Context) (*corev1.Namespace, error) {
	return k.tree.Index.Namespace(ctx, genericapirequest.NamespaceValue(ctx))
}

// invalid returns the errors of an object as one API error. The store validates after the hooks, but the hooks need
// valid names.
func invalid(h *hnc.Hierarchy, errs field.ErrorList) error {
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}, h.Name, errs)
	}
	return nil
}
