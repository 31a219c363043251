package subnamespace

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
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
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
	tree        *treerules.Tree
	hierarchies treerules.HierarchyGetter
	changes     *changerates.Changes
	// subnamespaces returns stored ones.
	subnamespaces rest.Getter
}

// beginCreate binds the new object to its namespace, the parent, and claims its name.
func (k hooks) beginCreate(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	if err := k.tree.AwaitRebuild(ctx); err != nil {
		return nil, err
	}
	s := obj.(*hnc.Subnamespace)
	// The store validates after the hooks, but a claim needs a valid name.
	if errs := validation.ValidateSubnamespace(s, k.tree.Authorizer.ManagedKeys(ctx)); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "Subnamespace"}, s.Name, errs)
	}
	before, err := k.currentLabels(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	if err := k.authorizePodSecurity(ctx, s, before); err != nil {
		return nil, err
	}
	if err := k.claim(ctx, s); err != nil {
		return nil, err
	}
	return base.FinishNothing, k.change(ctx, s, "create")
}

// change limits how often what is inherited by many namespaces changes. The propagator only follows changes of others.
func (k hooks) change(ctx context.Context, s *hnc.Subnamespace, verb string) error {
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	return k.changes.Allow(ctx, k.tree.Index.Root(s.Name), changerates.Below(k.tree.Index.Below(s.Name)), verb)
}

// beginUpdate releases the name when the last finalizer is removed or the object becomes void, and claims it again when
// the object is bound to an earlier namespace.
func (k hooks) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	s, oldS := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	if err := k.keepFinalizer(ctx, s, oldS); err != nil {
		return nil, err
	}
	if genericregistry.ShouldDeleteDuringUpdate(ctx, "", s, oldS) {
		return base.FinishNothing, k.release(ctx, oldS)
	}
	if err := k.authorizePodSecurity(ctx, s, oldS.Spec); err != nil {
		return nil, err
	}
	if hnc.IsVoid(s.Annotations) && !hnc.IsVoid(oldS.Annotations) && accessreview.ByPropagator(ctx) {
		guard, err := k.tree.Claims.ValidateVoiding(ctx, s.Name, s.Namespace)
		if err != nil {
			return nil, err
		}
		ownerref.Keep(s, oldS)
		return base.FinishNothing, fence.Set(ctx, guard)
	}
	if oldS.DeletionTimestamp != nil || hnc.IsVoid(oldS.Annotations) {
		ownerref.Keep(s, oldS)
		if err := fence.Set(ctx, nil); err != nil || hnc.IsVoid(oldS.Annotations) || apiequality.Semantic.DeepEqual(s.Spec, oldS.Spec) {
			return base.FinishNothing, err
		}
		// Its namespace inherits from it until both are gone.
		return base.FinishNothing, k.change(ctx, s, "update")
	}
	parent, bound, err := ownerref.Namespace(ctx, k.tree.Index, oldS)
	if err != nil {
		return nil, err
	}
	if bound {
		ownerref.Set(ctx, s, parent)
		err = fence.Set(ctx, nil)
	} else {
		err = k.claim(ctx, s)
	}
	if err != nil || bound && apiequality.Semantic.DeepEqual(s.Spec, oldS.Spec) {
		return base.FinishNothing, err
	}
	return base.FinishNothing, k.change(ctx, s, "update")
}

// keepFinalizer puts our finalizer back, with a warning, unless the requester may take the namespace out of its tree.
// An update without it is no error: manifests don't have it.
func (k hooks) keepFinalizer(ctx context.Context, s, stored *hnc.Subnamespace) error {
	if hnc.IsVoid(stored.Annotations) || !slices.Contains(stored.Finalizers, hnc.FinalizerSubnamespace) || slices.Contains(s.Finalizers, hnc.FinalizerSubnamespace) {
		return nil
	}
	err := k.tree.Claims.AuthorizeDetachment(ctx, s.Name, s.Namespace)
	if !apierrors.IsForbidden(err) {
		return err
	}
	s.Finalizers = append(s.Finalizers, hnc.FinalizerSubnamespace)
	warning.AddWarning(ctx, "", fmt.Sprintf("metadata.finalizers: %s stays until namespace %q is gone, because without it the namespace could outlive its parent; "+
		"delete this object to delete the namespace, or remove the annotation %s of the namespace to keep it as a full namespace",
		hnc.FinalizerSubnamespace, s.Name, hnc.AnnotationSubnamespaceOf))
	return nil
}

// beginDelete validates the deletion of the namespace, and releases the name unless the object has finalizers.
func (k hooks) beginDelete(ctx context.Context, obj runtime.Object) error {
	s := obj.(*hnc.Subnamespace)
	if s.DeletionTimestamp == nil {
		if err := k.tree.AwaitRebuildOf(ctx, s.Namespace); err != nil {
			return err
		}
		parent, err := k.parent(ctx)
		if err != nil {
			return err
		}
		if err := k.tree.Claims.ValidateDeletion(ctx, s.Name, parent, k.hierarchies, k.subnamespaces); err != nil {
			return err
		}
	}
	if len(s.Finalizers) > 0 {
		return fence.Set(ctx, &fence.Guard{KeepsObject: true})
	}
	return k.release(ctx, s)
}

// claim binds the object to its namespace, validates its claim of the name, and sets the fence.
func (k hooks) claim(ctx context.Context, s *hnc.Subnamespace) error {
	parent, err := k.parent(ctx)
	if err != nil {
		return err
	}
	ownerref.Set(ctx, s, parent)
	guard, err := k.tree.Claims.Validate(treerules.WithRequest(ctx, s), s.Name, parent)
	if err != nil {
		return err
	}
	return fence.Set(ctx, guard)
}

// release validates the release of the name, and sets the fence.
func (k hooks) release(ctx context.Context, s *hnc.Subnamespace) error {
	guard, err := k.tree.Claims.ValidateRelease(ctx, s.Name, s.Namespace)
	if err != nil {
		return err
	}
	return fence.Set(ctx, guard)
}

func (k hooks) parent(ctx context.Context) (*corev1.Namespace, error) {
	return k.tree.Index.Namespace(ctx, genericapirequest.NamespaceValue(ctx))
}

// currentLabels returns the labels that the Hierarchy of an existing namespace sets. A Subnamespace that is created for
// the namespace replaces them.
func (k hooks) currentLabels(ctx context.Context, name string) (hnc.SubnamespaceSpec, error) {
	h, err := k.hierarchies(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return hnc.SubnamespaceSpec{}, nil
	case err != nil:
		return hnc.SubnamespaceSpec{}, err
	}
	return hnc.SubnamespaceSpec{Labels: h.Spec.Labels, NamespaceLabels: h.Spec.NamespaceLabels}, nil
}

// authorizePodSecurity authorizes a change of the Pod Security labels that a Subnamespace sets on its namespace.
func (k hooks) authorizePodSecurity(ctx context.Context, s *hnc.Subnamespace, before hnc.SubnamespaceSpec) error {
	return k.tree.Authorizer.AuthorizePodSecurity(ctx, s.Name, s.Name,
		treerules.SetLabels{Labels: before.Labels, NamespaceLabels: before.NamespaceLabels}, treerules.SetLabels{Labels: s.Spec.Labels, NamespaceLabels: s.Spec.NamespaceLabels})
}
