package overwrittenobject

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

// REST serves overwritten objects. They are immutable. They cannot be watched, because a watch would need a review for
// each event.
type REST struct {
	store   *genericregistry.Store
	reviews authorizer.Authorizer
	// root returns the root of the tree of a namespace.
	root func(namespace string) string
	ttl  time.Duration
	// mu serializes creates, which evict other records.
	mu    sync.Mutex
	rates *tenantrates.Rates
	// room is the number of bytes that this replica may store, and chosen are the records that it deletes next, since
	// all were listed.
	room   int
	chosen []hnc.OverwrittenObject
	listed time.Time
}

var (
	_ rest.Storage              = &REST{}
	_ rest.Scoper               = &REST{}
	_ rest.SingularNameProvider = &REST{}
	_ rest.CategoriesProvider   = &REST{}
	_ rest.Creater              = &REST{} //nolint:misspell // as upstream spells it
	_ rest.Getter               = &REST{}
	_ rest.Lister               = &REST{}
	_ rest.GracefulDeleter      = &REST{}
	_ rest.CollectionDeleter    = &REST{}
)

// NewStorage returns the storage of records, which expire after ttl; 0 disables them. The reviews authorize access to
// the manifests, and root returns the tree of a namespace.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, reviews authorizer.Authorizer, root func(namespace string) string, ttl time.Duration) (*REST, error) {
	s := strategy{base.New(scheme, true), ttl}
	store := base.NewStore(&hnc.OverwrittenObject{}, &hnc.OverwrittenObjectList{}, "overwrittenobjects", "overwrittenobject", s, table.New(columns...))
	store.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return uint64(ttl.Seconds()), nil }
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	// Records have no dependents. A finalizer of the garbage collector would stay, because it does not watch records.
	store.EnableGarbageCollection = false
	return &REST{store: store, reviews: reviews, root: root, ttl: ttl, rates: tenantrates.New(perSecond, maxTotal)}, nil
}

// New returns an empty record.
func (r *REST) New() runtime.Object { return r.store.New() }

// NewList returns an empty list.
func (r *REST) NewList() runtime.Object { return r.store.NewList() }

// Destroy closes the store.
func (r *REST) Destroy() { r.store.Destroy() }

// NamespaceScoped returns true.
func (r *REST) NamespaceScoped() bool { return true }

// GetSingularName returns the singular name.
func (r *REST) GetSingularName() string { return r.store.GetSingularName() }

// Categories returns the groups of resources that it belongs to.
func (r *REST) Categories() []string { return []string{hnc.Category} }
