package repositorysync

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// Storage contains the storage of RepositorySyncs and of their status.
type Storage struct {
	Sync   *genericregistry.Store
	Status *alias.Status
}

// NewStorage returns the storage of RepositorySyncs. reviews authorizes the ServiceAccount and the Secret that they
// name.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, reviews authorizer.Authorizer) (*Storage, error) {
	b := base.New(scheme, false)
	s := strategy{b}
	store := base.NewStore(&hnc.RepositorySync{}, &hnc.RepositorySyncList{}, "repositorysyncs", "repositorysync", s, table.New(columns...))
	store.BeginCreate = func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		return begin(ctx, reviews, obj.(*hnc.RepositorySync), nil)
	}
	store.BeginUpdate = func(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
		return begin(ctx, reviews, obj.(*hnc.RepositorySync), old.(*hnc.RepositorySync))
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	return &Storage{Sync: store, Status: alias.NewStatus(store, base.Status[*hnc.RepositorySync]{Base: b, Keep: keepSpec})}, nil
}

// begin validates first, because the store validates after the hooks, and a review needs valid names.
func begin(ctx context.Context, reviews authorizer.Authorizer, s, old *hnc.RepositorySync) (genericregistry.FinishFunc, error) {
	if errs := validation.ValidateRepositorySync(s); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "RepositorySync"}, s.Name, errs)
	}
	return base.FinishNothing, authorize(ctx, reviews, s, old)
}
