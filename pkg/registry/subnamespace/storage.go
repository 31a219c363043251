package subnamespace

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/ownerref"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/transaction"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Storage is what the sub-namespace resource and its subresources are served from.
type Storage struct {
	// Subnamespace serves the resource.
	Subnamespace *REST
	// Status serves the status subresource.
	Status *alias.Status
}

// NewStorage returns the storage of sub-namespaces. Their names are claimed from t; hierarchies say where cascading
// deletion is allowed; a create waits until the namespace can be used, for ready at most.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *tree.Tree, hierarchies tree.Hierarchies, ready time.Duration) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b, t}
	hooks := hooks{t, hierarchies}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &hnc.Subnamespace{} },
		NewListFunc:               func() runtime.Object { return &hnc.SubnamespaceList{} },
		DefaultQualifiedResource:  hnc.Resource("subnamespaces"),
		SingularQualifiedResource: hnc.Resource("subnamespace"),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		BeginCreate:               hooks.beginCreate,
		BeginUpdate:               hooks.beginUpdate,
		TableConvertor: table.New(
			table.Column[hnc.Subnamespace]{Name: "State", Type: "string", Description: "Ok, Missing, Conflict or Forbidden.",
				Cell: func(s *hnc.Subnamespace) any { return string(s.Status.State) }},
			table.Column[hnc.Subnamespace]{Name: "Ready", Type: "string", Description: "Whether the namespace can be used, with all that it inherits.",
				Cell: readyCell},
			table.Column[hnc.Subnamespace]{Name: "Conditions", Type: "string", Wide: true, Description: "The conditions of the sub-namespace.",
				Cell: func(s *hnc.Subnamespace) any { return table.Conditions(s.Status.Conditions) }},
		),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	served := transaction.New(store, hooks.beginDelete)
	return &Storage{
		Subnamespace: &REST{Store: served, ready: ready},
		Status:       alias.NewStatus(store, statusStrategy{base.Status{Base: b}}),
	}, nil
}

func readyCell(s *hnc.Subnamespace) any {
	if condition := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady); condition != nil {
		return string(condition.Status)
	}
	return string(metav1.ConditionUnknown)
}

// hooks ask the tree.
type hooks struct {
	tree        *tree.Tree
	hierarchies tree.Hierarchies
}

// beginCreate binds the new object to its namespace, the parent, and claims its name.
func (k hooks) beginCreate(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	s := obj.(*hnc.Subnamespace)
	// The store validates after the hooks, but there is no sense in claiming a name that is none.
	if errs := validation.ValidateSubnamespace(s, k.tree.Managed(ctx)); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "Subnamespace"}, s.Name, errs)
	}
	before, err := k.before(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	if err := k.podSecurity(ctx, s, before); err != nil {
		return nil, err
	}
	return nothing, k.claim(ctx, s)
}

// before returns what a namespace's hierarchy sets on it. A Subnamespace that is created for an existing namespace replaces that.
func (k hooks) before(ctx context.Context, name string) (hnc.SubnamespaceSpec, error) {
	h, err := k.hierarchies(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return hnc.SubnamespaceSpec{}, nil
	case err != nil:
		return hnc.SubnamespaceSpec{}, err
	}
	return hnc.SubnamespaceSpec{Labels: h.Spec.Labels, NamespaceLabels: h.Spec.NamespaceLabels}, nil
}

// podSecurity checks what a write changes in the Pod Security labels that a Subnamespace sets on its namespace.
func (k hooks) podSecurity(ctx context.Context, s *hnc.Subnamespace, before hnc.SubnamespaceSpec) error {
	return k.tree.CheckPodSecurity(ctx, s.Name, s.Name, slices.Concat(before.Labels, before.NamespaceLabels), slices.Concat(s.Spec.Labels, s.Spec.NamespaceLabels))
}

// beginUpdate lets go of the name when the last finalizer is taken or the object becomes void, and claims it again when the object is bound
// to an earlier namespace.
func (k hooks) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	s, was := obj.(*hnc.Subnamespace), old.(*hnc.Subnamespace)
	if genericregistry.ShouldDeleteDuringUpdate(ctx, "", s, was) {
		return nothing, k.release(ctx, was)
	}
	if err := k.podSecurity(ctx, s, was.Spec); err != nil {
		return nil, err
	}
	if void(s) && !void(was) && requester(ctx) == "" {
		guard, err := k.tree.Void(ctx, s.Name, s.Namespace)
		if err != nil {
			return nil, err
		}
		ownerref.Keep(s, was)
		return nothing, fence.Set(ctx, guard)
	}
	if was.DeletionTimestamp != nil || void(was) {
		ownerref.Keep(s, was)
		return nothing, fence.Set(ctx, nil)
	}
	parent, bound, err := ownerref.Namespace(ctx, k.tree, was)
	if err != nil {
		return nil, err
	}
	if bound {
		ownerref.Set(ctx, s, parent)
		return nothing, fence.Set(ctx, nil)
	}
	return nothing, k.claim(ctx, s)
}

func (k hooks) beginDelete(ctx context.Context, obj runtime.Object) error {
	s := obj.(*hnc.Subnamespace)
	if s.DeletionTimestamp == nil {
		parent, err := k.parent(ctx)
		if err != nil {
			return err
		}
		if err := k.tree.Deletable(ctx, s.Name, parent, k.hierarchies); err != nil {
			return err
		}
	}
	if len(s.Finalizers) > 0 {
		return fence.Set(ctx, nil)
	}
	return k.release(ctx, s)
}

func (k hooks) claim(ctx context.Context, s *hnc.Subnamespace) error {
	parent, err := k.parent(ctx)
	if err != nil {
		return err
	}
	ownerref.Set(ctx, s, parent)
	guard, err := k.tree.Claim(ctx, s.Name, parent)
	if err != nil {
		return err
	}
	return fence.Set(ctx, guard)
}

func (k hooks) release(ctx context.Context, s *hnc.Subnamespace) error {
	guard, err := k.tree.Release(ctx, s.Name, s.Namespace)
	if err != nil {
		return err
	}
	return fence.Set(ctx, guard)
}

func (k hooks) parent(ctx context.Context) (*corev1.Namespace, error) {
	return k.tree.Namespace(ctx, genericapirequest.NamespaceValue(ctx))
}

func nothing(context.Context, bool) {}
