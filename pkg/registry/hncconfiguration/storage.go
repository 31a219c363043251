package hncconfiguration

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// Storage is what the configuration and its subresources are served from.
type Storage struct {
	// Configuration serves the resource.
	Configuration *REST
	// Status serves the status subresource.
	Status *alias.Status
}

// REST serves the configuration, which can't be deleted.
type REST struct{ *genericregistry.Store }

// NewStorage returns the storage of the configuration, whose kinds are looked for by mapper; rights says who may bind the creator's role, and t
// what would be overwritten. The status reports the rules that this server acts by.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, mapper *kinds.Mapper, rights authorizer.Authorizer, t *tree.Tree,
	rules *hnc.Rules,
) (*Storage, error) {
	b := base.New(scheme, false)
	s := strategy{b, resourcespec.Validator{Mapper: mapper}, t, rules}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &hnc.HNCConfiguration{} },
		NewListFunc:               func() runtime.Object { return &hnc.HNCConfigurationList{} },
		DefaultQualifiedResource:  hnc.Resource("hncconfigurations"),
		SingularQualifiedResource: hnc.Resource("hncconfiguration"),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		BeginCreate: func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
			c, was := obj.(*hnc.HNCConfiguration), &hnc.HNCConfiguration{}
			if err := mayBindCreator(ctx, rights, c, ""); err != nil {
				return nil, err
			}
			return nothing, s.overwrites(ctx, c, was)
		},
		BeginUpdate: func(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
			c, was := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
			if err := mayBindCreator(ctx, rights, c, was.Spec.CreatorRole); err != nil {
				return nil, err
			}
			return nothing, s.overwrites(ctx, c, was)
		},
		TableConvertor: table.New(
			table.Column[hnc.HNCConfiguration]{Name: "Kinds", Type: "integer", Description: "The number of kinds that are acted upon.",
				Cell: func(c *hnc.HNCConfiguration) any { return int64(len(c.Status.Resources)) }},
			table.Column[hnc.HNCConfiguration]{Name: "Copies", Type: "integer", Description: "The number of copies of all kinds.", Cell: copies},
			table.Column[hnc.HNCConfiguration]{Name: "Conditions", Type: "string", Wide: true, Description: "The conditions of the configuration.",
				Cell: func(c *hnc.HNCConfiguration) any { return table.Conditions(c.Status.Conditions) }},
		),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	return &Storage{Configuration: &REST{store}, Status: alias.NewStatus(store, statusStrategy{base.Status{Base: b}, rules})}, nil
}

// ReportRules has the stored status report the rules of this server, if there is a configuration. One that is created later
// reports them from the start.
func (s *Storage) ReportRules(ctx context.Context) error {
	same := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, stored runtime.Object) (runtime.Object, error) {
		return stored.DeepCopyObject(), nil // the strategy sets the rules
	})
	// A request's context has a namespace, the empty one for resources of the cluster.
	ctx = genericapirequest.WithNamespace(ctx, metav1.NamespaceNone)
	_, _, err := s.Status.Update(ctx, hnc.ConfigurationName, same, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// SubnamespaceNames returns the rule for the names of new sub-namespaces as it is stored now, nil if there is none.
func (s *Storage) SubnamespaceNames(ctx context.Context) (*hnc.SubnamespaceNames, error) {
	c, err := s.Configuration.Get(ctx, hnc.ConfigurationName, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return c.(*hnc.HNCConfiguration).Spec.SubnamespaceNames, nil
}

func copies(c *hnc.HNCConfiguration) any {
	var sum int64
	for _, r := range c.Status.Resources {
		if r.NumPropagatedObjects != nil {
			sum += int64(*r.NumPropagatedObjects)
		}
	}
	return sum
}

var errDelete = errors.New("there is always one configuration; empty its spec.resources instead")

// Delete refuses to delete the configuration. Others are deleted, or rather not found (spec/hnc.md 2.6, K1 and K2).
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if name != hnc.ConfigurationName {
		return r.Store.Delete(ctx, name, validate, options)
	}
	return nil, false, apierrors.NewForbidden(r.DefaultQualifiedResource, name, errDelete)
}

// DeleteCollection refuses to delete the configuration.
func (r *REST) DeleteCollection(context.Context, rest.ValidateObjectFunc, *metav1.DeleteOptions, *metainternalversion.ListOptions) (runtime.Object, error) {
	return nil, apierrors.NewForbidden(r.DefaultQualifiedResource, "", errDelete)
}
