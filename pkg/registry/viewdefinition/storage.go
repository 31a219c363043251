package viewdefinition

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/review"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// Storage contains the storage of ViewDefinitions and of their status.
type Storage struct {
	Definition *genericregistry.Store
	Status     *alias.Status
}

var resource = hnc.Resource("viewdefinitions")

// NewStorage returns the storage of ViewDefinitions. Limit returns how many a namespace may have; reviews authorizes who
// removes our finalizer.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, reviews authorizer.Authorizer, limit func(ctx context.Context, namespace string) (int, error)) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &hnc.ViewDefinition{} },
		NewListFunc:               func() runtime.Object { return &hnc.ViewDefinitionList{} },
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: hnc.Resource("viewdefinition"),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		BeginUpdate: func(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
			return base.FinishNothing, keepFinalizer(ctx, reviews, obj.(*hnc.ViewDefinition), old.(*hnc.ViewDefinition))
		},
		TableConvertor: table.New(columns...),
	}
	store.BeginCreate = func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		return base.FinishNothing, withinLimit(ctx, store, limit, obj.(*hnc.ViewDefinition))
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	return &Storage{Definition: store, Status: alias.NewStatus(store, base.Status[*hnc.ViewDefinition]{Base: b, Keep: keepSpec})}, nil
}

// withinLimit returns an error if a namespace has as many definitions as it may have. It reads caches: the propagator
// enforces the limit, too.
func withinLimit(ctx context.Context, store *genericregistry.Store, limit func(context.Context, string) (int, error), v *hnc.ViewDefinition) error {
	namespace := genericapirequest.NamespaceValue(ctx)
	most, err := limit(ctx, namespace)
	if err != nil {
		return err
	}
	if most > 0 {
		list, err := store.List(ctx, &metainternalversion.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		if len(list.(*hnc.ViewDefinitionList).Items) < most {
			return nil
		}
	}
	return apierrors.NewForbidden(resource, v.Name, fmt.Errorf("spec.customResources.limit of the TenantView of this namespace allows %d CustomResourceDefinitions; "+
		"delete one, or ask an administrator of the cluster to raise it", most))
}

// keepFinalizer puts our finalizer back, unless the requester may delete the CustomResourceDefinition in the cluster, which
// would stay otherwise, and not be counted.
func keepFinalizer(ctx context.Context, reviews authorizer.Authorizer, v, old *hnc.ViewDefinition) error {
	if !slices.Contains(old.Finalizers, hnc.FinalizerViewDefinition) || slices.Contains(v.Finalizers, hnc.FinalizerViewDefinition) {
		return nil
	}
	if requester, ok := genericapirequest.UserFrom(ctx); ok && requester.GetName() == hnc.PropagatorUser {
		return nil
	}
	_, allowed, err := review.Requester(ctx, reviews, authorizer.AttributesRecord{
		Verb: "delete", APIGroup: "apiextensions.k8s.io", APIVersion: "*", Resource: "customresourcedefinitions",
	})
	if err != nil || allowed {
		return err
	}
	v.Finalizers = append(v.Finalizers, hnc.FinalizerViewDefinition)
	if old.DeletionTimestamp != nil { // An update without it is no error: manifests don't have it.
		warning.AddWarning(ctx, "", fmt.Sprintf("metadata.finalizers: %s stays until the custom resources are gone", hnc.FinalizerViewDefinition))
	}
	return nil
}
