package tenantview

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// Storage contains the storage of TenantViews and of their status.
type Storage struct {
	View   *genericregistry.Store
	Status *alias.Status
}

var resource = hnc.Resource("tenantviews")

// NewStorage returns the storage of TenantViews. reviews authorizes who writes their specs.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, reviews authorizer.Authorizer) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b}
	store := base.NewStore(&hnc.TenantView{}, &hnc.TenantViewList{}, resource.Resource, "tenantview", s, table.New(columns...))
	store.BeginCreate = func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		return begin(ctx, reviews, "create", obj.(*hnc.TenantView))
	}
	store.BeginUpdate = func(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
		v := obj.(*hnc.TenantView)
		if apiequality.Semantic.DeepEqual(v.Spec, old.(*hnc.TenantView).Spec) {
			return base.FinishNothing, nil
		}
		return begin(ctx, reviews, "update", v)
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	return &Storage{View: store, Status: alias.NewStatus(store, base.Status[*hnc.TenantView]{Base: b, Keep: keepSpec})}, nil
}

// begin validates first, because the store validates after the hooks, and a review needs a valid name.
func begin(ctx context.Context, reviews authorizer.Authorizer, verb string, v *hnc.TenantView) (genericregistry.FinishFunc, error) {
	if errs := validation.ValidateTenantView(v); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "TenantView"}, v.Name, errs)
	}
	return base.FinishNothing, authorize(ctx, reviews, verb, v)
}

// authorize requires the permission in all namespaces: a TenantView lets hns-gateway act as its callers in a subtree,
// which an administrator of a namespace cannot decide.
func authorize(ctx context.Context, reviews authorizer.Authorizer, verb string, v *hnc.TenantView) error {
	user, allowed, err := accessreview.Requester(ctx, reviews, authorizer.AttributesRecord{
		Verb: verb, APIGroup: resource.Group, APIVersion: "*", Resource: resource.Resource, Name: v.Name,
	})
	if err != nil || allowed {
		return err
	}
	return apierrors.NewForbidden(resource, v.Name, fmt.Errorf("user %q may %s TenantViews in some namespaces only; "+
		"this needs a ClusterRoleBinding, as to the ClusterRole hns-tenantviews-admin", user, verb))
}
