package hierarchicalresourcequota

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/transaction"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// Storage contains the storage of quotas and of their status.
type Storage struct {
	Quota  *transaction.Store
	Status *alias.Status
}

// NewStorage returns the storage of quotas. The tree knows in which namespaces there are none.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *tree.Tree) (*Storage, error) {
	b := base.New(scheme, true)
	s, k := strategy{b}, hooks{t.Index}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &hnc.HierarchicalResourceQuota{} },
		NewListFunc:               func() runtime.Object { return &hnc.HierarchicalResourceQuotaList{} },
		DefaultQualifiedResource:  hnc.Resource("hierarchicalresourcequotas"),
		SingularQualifiedResource: hnc.Resource("hierarchicalresourcequota"),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		BeginCreate:               k.beginCreate,
		BeginUpdate:               k.beginUpdate,
		TableConvertor:            table.New(columns...),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	quotas := transaction.New(store, beginDelete)
	quotas.GeneratesNames = true
	return &Storage{Quota: quotas, Status: alias.NewStatus(store, base.Status[*hnc.HierarchicalResourceQuota]{Base: b, Keep: keepSpec})}, nil
}
