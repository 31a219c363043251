package hierarchy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/ownerref"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/transaction"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Storage is what the hierarchy resource and its subresources are served from.
type Storage struct {
	// Hierarchy serves the resource.
	Hierarchy *REST
	// Status serves the status subresource.
	Status *alias.Status
}

// NewStorage returns the storage of hierarchies, whose changes of parent are judged by t. The kinds that they name are looked for by mapper.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *tree.Tree, mapper *kinds.Mapper) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b, t, resourcespec.Validator{Mapper: mapper}}
	hooks := hooks{t}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &hnc.Hierarchy{} },
		NewListFunc:               func() runtime.Object { return &hnc.HierarchyList{} },
		DefaultQualifiedResource:  hnc.Resource("hierarchies"),
		SingularQualifiedResource: hnc.Resource("hierarchy"),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		BeginCreate:               hooks.createSaying,
		BeginUpdate:               hooks.updateSaying,
		TableConvertor: table.New(
			table.Column[hnc.Hierarchy]{Name: "Parent", Type: "string", Description: "The parent namespace, empty for a root.",
				Cell: func(h *hnc.Hierarchy) any { return h.Spec.Parent }},
			table.Column[hnc.Hierarchy]{Name: "Children", Type: "integer", Description: "The number of namespaces directly below.",
				Cell: func(h *hnc.Hierarchy) any { return int64(len(h.Status.Children)) }},
			table.Column[hnc.Hierarchy]{Name: "Cascading", Type: "boolean", Description: "Whether cascading deletion is allowed here.",
				Cell: func(h *hnc.Hierarchy) any {
					return h.Spec.AllowCascadingDeletion != nil && *h.Spec.AllowCascadingDeletion
				}},
			table.Column[hnc.Hierarchy]{Name: "Conditions", Type: "string", Wide: true, Description: "The conditions of the namespace.",
				Cell: func(h *hnc.Hierarchy) any { return table.Conditions(h.Status.Conditions) }},
			table.Column[hnc.Hierarchy]{Name: "Child Names", Type: "string", Wide: true, Description: "The namespaces directly below.",
				Cell: func(h *hnc.Hierarchy) any { return strings.Join(h.Status.Children, ",") }},
		),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: attributes}); err != nil {
		return nil, err
	}
	served := transaction.New(store, hooks.deleteSaying)
	return &Storage{
		Hierarchy: &REST{served},
		Status:    alias.NewStatus(store, statusStrategy{base.Status{Base: b}}),
	}, nil
}

// hooks ask the tree.
type hooks struct{ tree *tree.Tree }

// beginCreate binds the new object to its namespace and judges its parent. If the object names none, a namespace that a Subnamespace
// holds stays where it is.
func (k hooks) beginCreate(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	h := obj.(*hnc.Hierarchy)
	if err := invalid(h, validation.ValidateHierarchy(h, k.tree.Managed(ctx))); err != nil {
		return nil, err
	}
	namespace, err := k.namespace(ctx)
	if err != nil {
		return nil, err
	}
	if h.Spec.Parent == "" {
		if h.Spec.Parent, err = k.tree.HeldBy(ctx, namespace); err != nil {
			return nil, err
		}
	}
	if err := k.podSecurity(ctx, namespace.Name, hnc.HierarchySpec{}, h.Spec); err != nil {
		return nil, err
	}
	if err := k.move(ctx, h, namespace); err != nil {
		return nil, err
	}
	return nothing, k.require(ctx, h, nil, namespace)
}

// beginUpdate judges new required children, and a changed parent, or an unchanged one if the object was bound to an earlier namespace. Taking
// the last finalizer of an object that is being deleted takes the namespace out of its tree: what was allowed when the deletion was requested
// may not be any more.
func (k hooks) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	h, was := obj.(*hnc.Hierarchy), old.(*hnc.Hierarchy)
	if genericregistry.ShouldDeleteDuringUpdate(ctx, "", h, was) {
		if err := k.podSecurityGoes(ctx, was); err != nil {
			return nil, err
		}
		return nothing, k.unmove(ctx, was)
	}
	if was.DeletionTimestamp != nil && h.Spec.Parent != "" && h.Spec.Parent != was.Spec.Parent {
		return nil, apierrors.NewForbidden(hnc.Resource("hierarchies"), h.Name, fmt.Errorf("spec.parent: the hierarchy of namespace %q is being deleted "+
			"and takes no new parent; remove its finalizers %v, then create it again", h.Namespace, was.Finalizers))
	}
	if err := invalid(h, validation.ValidateHierarchyUpdate(h, was, k.tree.Managed(ctx))); err != nil {
		return nil, err
	}
	namespace, bound, err := ownerref.Namespace(ctx, k.tree, was)
	if err != nil {
		return nil, err
	}
	if err := k.podSecurity(ctx, namespace.Name, was.Spec, h.Spec); err != nil {
		return nil, err
	}
	if h.Spec.Parent == was.Spec.Parent && bound {
		ownerref.Set(ctx, h, namespace)
		if !apiequality.Semantic.DeepEqual(h.Spec, was.Spec) {
			if err := k.tree.Editable(ctx, namespace, h.Spec.Parent); err != nil {
				return nil, err
			}
		}
		if err := k.require(ctx, h, was.Spec.RequiredChildren, namespace); err != nil {
			return nil, err
		}
		return nothing, fence.Set(ctx, nil)
	}
	if namespace.DeletionTimestamp != nil && !apiequality.Semantic.DeepEqual(h.Spec, was.Spec) {
		return nil, apierrors.NewForbidden(hnc.Resource("hierarchies"), h.Name,
			fmt.Errorf("namespace %q is being deleted, and its place in the tree can no longer change", namespace.Name))
	}
	if err := k.move(ctx, h, namespace); err != nil {
		return nil, err
	}
	known := was.Spec.RequiredChildren
	if !bound {
		known = nil
	}
	return nothing, k.require(ctx, h, known, namespace)
}

// beginDelete judges that the namespace becomes a root. With finalizers the object only gets marked, and goes later.
func (k hooks) beginDelete(ctx context.Context, obj runtime.Object) error {
	h := obj.(*hnc.Hierarchy)
	if h.DeletionTimestamp != nil {
		return fence.Set(ctx, nil)
	}
	if err := k.podSecurityGoes(ctx, h); err != nil {
		return err
	}
	if err := k.unmove(ctx, h); err != nil || len(h.Finalizers) == 0 {
		return err
	}
	return fence.Set(ctx, nil)
}

func (k hooks) unmove(ctx context.Context, h *hnc.Hierarchy) error {
	guard, err := k.tree.Unmove(ctx, h.Namespace)
	if err != nil {
		return err
	}
	return fence.Set(ctx, guard)
}

func (k hooks) move(ctx context.Context, h *hnc.Hierarchy, namespace *corev1.Namespace) error {
	ownerref.Set(ctx, h, namespace)
	if err := k.tree.CheckPropagator(ctx, namespace, h.Spec.Parent); err != nil {
		return err
	}
	guard, err := k.tree.Move(ctx, namespace, h.Spec.Parent)
	if err != nil {
		return err
	}
	return fence.Set(ctx, guard)
}

// require judges the required children that are not known from before.
func (k hooks) require(ctx context.Context, h *hnc.Hierarchy, known []string, namespace *corev1.Namespace) error {
	names := map[int]string{}
	for i, name := range h.Spec.RequiredChildren {
		if !slices.Contains(known, name) {
			names[i] = name
		}
	}
	return k.tree.Require(ctx, names, namespace)
}

func (k hooks) namespace(ctx context.Context) (*corev1.Namespace, error) {
	return k.tree.Namespace(ctx, genericapirequest.NamespaceValue(ctx))
}

// invalid returns what is wrong with the object itself as one error. The store validates after the hooks, but there is no
// sense in looking for a parent by a name that is none.
func invalid(h *hnc.Hierarchy, errs field.ErrorList) error {
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}, h.Name, errs)
	}
	return nil
}

func nothing(context.Context, bool) {}
