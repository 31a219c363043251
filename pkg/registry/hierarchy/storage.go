package hierarchy

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/fencedstore"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/waitready"
)

// Storage contains the storage of hierarchies and of their status.
type Storage struct {
	Hierarchy *REST
	Status    *alias.Status
}

// REST serves hierarchies. A move returns when the quotas above the new place are in force.
type REST struct {
	*fencedstore.Store
	index  *treerules.Index
	waiter waitready.Waiter
	settle Settle
}

// NewStorage returns the storage of hierarchies. The tree validates their parents, and the mapper finds the kinds that
// they name. A move waits until what settle returns has returned.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *treerules.Tree, mapper *kinds.Mapper, changes *changerates.Changes,
	waiter waitready.Waiter, settle Settle,
) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b, t, resourcespec.Validator{Mapper: mapper}}
	hooks := hooks{t, changes}
	store := base.NewStore(&hnc.Hierarchy{}, &hnc.HierarchyList{}, "hierarchies", "hierarchy", s, table.New(columns...))
	store.BeginCreate, store.BeginUpdate = hooks.beginCreate, hooks.beginUpdate
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: attributes}); err != nil {
		return nil, err
	}
	served := fencedstore.New(store, hooks.beginDelete)
	served.Changes = changes
	return &Storage{
		Hierarchy: &REST{Store: served, index: t.Index, waiter: waiter, settle: settle},
		Status:    alias.NewStatus(store, base.Status[*hnc.Hierarchy]{Base: b, Keep: keepSpec}),
	}, nil
}
