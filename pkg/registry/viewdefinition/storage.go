package viewdefinition

import (
	"bytes"
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
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// Storage contains the storage of ViewDefinitions and of their status.
type Storage struct {
	Definition *REST
	Status     *alias.Status
}

var resource = hnc.Resource("viewdefinitions")

// NewStorage returns the storage of ViewDefinitions. Limit returns how many a namespace may have, and root the root of its
// tree; reviews authorizes who removes our finalizer.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, reviews authorizer.Authorizer, root func(namespace string) string,
	limit func(ctx context.Context, namespace string) (int, error)) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b, make(slots, maxInFlight)}
	store := base.NewStore(&hnc.ViewDefinition{}, &hnc.ViewDefinitionList{}, resource.Resource, "viewdefinition", s, table.New(columns...))
	store.BeginCreate = func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		return base.FinishNothing, withinLimits(ctx, store, limit, s, obj.(*hnc.ViewDefinition), nil)
	}
	store.BeginUpdate = func(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
		v, oldV := obj.(*hnc.ViewDefinition), old.(*hnc.ViewDefinition)
		if err := withinLimits(ctx, store, limit, s, v, oldV); err != nil {
			return nil, err
		}
		return base.FinishNothing, keepFinalizer(ctx, reviews, v, oldV)
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	return &Storage{Definition: newREST(store, root), Status: alias.NewStatus(store, base.Status[*hnc.ViewDefinition]{Base: b, Keep: keepSpec})}, nil
}

// withinLimits returns an error if a write of a spec makes a namespace have more definitions than it may have, or larger
// ones. It gives the spec the bytes that are stored. It reads caches: the propagator enforces both, too. old is nil for a
// creation.
func withinLimits(ctx context.Context, store rest.Lister, limit func(context.Context, string) (int, error), s strategy, v, old *hnc.ViewDefinition) error {
	if old != nil && bytes.Equal(v.Spec.Raw, old.Spec.Raw) {
		return nil
	}
	list, err := store.List(ctx, &metainternalversion.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	allowed, err := limit(ctx, genericapirequest.NamespaceValue(ctx))
	if err != nil {
		return err
	}
	definitions := list.(*hnc.ViewDefinitionList).Items
	if err := validateNumber(definitions, allowed, v, old); err != nil {
		return err
	}
	s.canonicalize(ctx, v) // Before it is measured: it may become larger.
	return validateTotal(definitions, v, old)
}

// validateNumber returns an error if a namespace would have more definitions than are allowed, unless the written one is
// being deleted: without its finalizers, it makes room. It does not parse the specs.
func validateNumber(definitions []hnc.ViewDefinition, allowed int, v, old *hnc.ViewDefinition) error {
	n := len(definitions)
	if old == nil {
		n++
	}
	if n <= allowed || old != nil && old.DeletionTimestamp != nil {
		return nil
	}
	return apierrors.NewForbidden(resource, v.Name, fmt.Errorf("spec.customResources.limit of the TenantView of this namespace allows %d CustomResourceDefinitions; "+
		"delete one, or ask an administrator of the cluster to raise it", allowed))
}

// validateTotal returns an error if the specs of a namespace grow and are too large together.
func validateTotal(definitions []hnc.ViewDefinition, v, old *hnc.ViewDefinition) error {
	total := total(definitions, v)
	if total <= hnc.MaxViewDefinitionBytes || old != nil && len(v.Spec.Raw) <= len(old.Spec.Raw) {
		return nil
	}
	return apierrors.NewForbidden(resource, v.Name, fmt.Errorf("spec: the CustomResourceDefinitions of this namespace would have %d bytes, and may have %d; "+
		"remove descriptions or versions, or delete one", total, hnc.MaxViewDefinitionBytes))
}

// total returns the size of the specs of definitions when one of them is written.
func total(definitions []hnc.ViewDefinition, written *hnc.ViewDefinition) int {
	n := len(written.Spec.Raw)
	for i := range definitions {
		if v := &definitions[i]; v.Name != written.Name {
			n += len(v.Spec.Raw)
		}
	}
	return n
}

// keepFinalizer puts our finalizer back, unless the requester may delete the CustomResourceDefinition in the cluster,
// which would stay otherwise, and not be counted.
func keepFinalizer(ctx context.Context, reviews authorizer.Authorizer, v, old *hnc.ViewDefinition) error {
	if !slices.Contains(old.Finalizers, hnc.FinalizerViewDefinition) || slices.Contains(v.Finalizers, hnc.FinalizerViewDefinition) {
		return nil
	}
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	_, allowed, err := accessreview.Requester(ctx, reviews, authorizer.AttributesRecord{
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
