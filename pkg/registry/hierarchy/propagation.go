package hierarchy

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/ownerref"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// What a hierarchy says about kinds takes a right of its own. The functions of this file judge it after the write was judged otherwise.

// createSaying judges a new object that says something about kinds.
func (k hooks) createSaying(ctx context.Context, obj runtime.Object, options *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	finish, err := k.beginCreate(ctx, obj, options)
	if h := obj.(*hnc.Hierarchy); err == nil && len(h.Spec.Propagation) > 0 {
		err = k.saying(ctx, h, nil)
	}
	return finish, err
}

// saying judges what the object says about kinds: who may say it, then what it would have overwritten.
func (k hooks) saying(ctx context.Context, h *hnc.Hierarchy, before []hnc.ResourceSpec) error {
	namespace := genericapirequest.NamespaceValue(ctx)
	if err := demand(ctx)(k.tree.Propagation(ctx, namespace, h.Spec.Parent)); err != nil {
		return err
	}
	return k.tree.CheckPropagation(ctx, namespace, before, h.Spec.Propagation)
}

// updateSaying judges an object that says something else about kinds, or something about the kinds of another namespace than before:
// one that was made anew.
func (k hooks) updateSaying(ctx context.Context, obj, old runtime.Object, options *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	h, was := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	finish, err := k.beginUpdate(ctx, obj, old, options)
	if err != nil {
		return finish, err
	}
	if genericregistry.ShouldDeleteDuringUpdate(ctx, "", h, was) {
		return finish, k.silence(ctx, was)
	}
	changed := !slices.Equal(h.Spec.Propagation, was.Spec.Propagation)
	if !changed && len(h.Spec.Propagation) > 0 {
		_, bound, err := ownerref.Namespace(ctx, k.tree, was)
		if err != nil {
			return nil, err
		}
		changed = !bound
	}
	if changed {
		err = k.saying(ctx, h, was.Spec.Propagation)
	}
	return finish, err
}

// deleteSaying judges that an object goes that says something about kinds.
func (k hooks) deleteSaying(ctx context.Context, obj runtime.Object) error {
	if err := k.beginDelete(ctx, obj); err != nil {
		return err
	}
	if h := obj.(*hnc.Hierarchy); h.DeletionTimestamp == nil {
		return k.silence(ctx, h)
	}
	return nil
}

// silence judges that what the object says about kinds goes.
func (k hooks) silence(ctx context.Context, h *hnc.Hierarchy) error {
	if len(h.Spec.Propagation) == 0 {
		return nil
	}
	return demand(ctx)(k.tree.NoPropagation(ctx, h.Namespace))
}

// demand adds to the fence of a write what a judgement depends on, unless that is an error.
func demand(ctx context.Context) func(*fence.Guard, error) error {
	return func(guard *fence.Guard, err error) error {
		if err != nil {
			return err
		}
		return fence.Demand(ctx, guard.Unchanged)
	}
}

// byHNC says whether a request is made in the words of HNC.
func byHNC(ctx context.Context) bool {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	return ok && info.APIVersion == v1alpha2.SchemeGroupVersion.Version
}

// validateKinds returns what is wrong with the kinds that are named, if these are others than before.
func (s strategy) validateKinds(ctx context.Context, h *hnc.Hierarchy, old []hnc.ResourceSpec) field.ErrorList {
	if slices.Equal(h.Spec.Propagation, old) {
		return nil
	}
	return s.kinds.Validate(ctx, field.NewPath("spec", "propagation"), h.Spec.Propagation, old)
}
