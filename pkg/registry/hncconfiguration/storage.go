package hncconfiguration

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// Storage contains the storage of the configuration and of its status.
type Storage struct {
	Configuration *REST
	Status        *alias.Status
	rules         *configrules.Current
	// changed is called when other rules apply.
	changed atomic.Pointer[func()]
	// read reports that the stored configuration is known.
	read atomic.Bool

	// mu guards version, that of the configuration whose rules apply.
	mu      sync.Mutex
	version uint64
}

// REST serves the configuration, which cannot be deleted.
type REST struct{ *genericregistry.Store }

// NewStorage returns the storage of the configuration. The mapper finds the kinds that it names, reviews authorizes the
// creator's role, and the tree rejects a configuration that would overwrite objects. The status reports the rules of
// this server, which follow the stored configuration while FollowRules runs.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, mapper *kinds.Mapper, reviews authorizer.Authorizer, t *treerules.Tree,
	rules *configrules.Current,
) (*Storage, error) {
	b := base.New(scheme, false)
	s := strategy{b, resourcespec.Validator{Mapper: mapper}, t.Overwrites}
	store := base.NewStore(&hnc.HNCConfiguration{}, &hnc.HNCConfigurationList{}, "hncconfigurations", "hncconfiguration", s, table.New(columns...))
	store.BeginCreate = func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		c, oldC := obj.(*hnc.HNCConfiguration), &hnc.HNCConfiguration{}
		// The propagator creates the configuration that it was started with.
		if !accessreview.ByPropagator(ctx) {
			if err := authorize(ctx, reviews, c, oldC); err != nil {
				return nil, err
			}
		}
		return base.FinishNothing, s.validateOverwrites(ctx, c, oldC)
	}
	store.BeginUpdate = func(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
		c, oldC := obj.(*hnc.HNCConfiguration), old.(*hnc.HNCConfiguration)
		if err := authorize(ctx, reviews, c, oldC); err != nil {
			return nil, err
		}
		return base.FinishNothing, s.validateOverwrites(ctx, c, oldC)
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	storage := &Storage{Configuration: &REST{store}, Status: alias.NewStatus(store, base.Status[*hnc.HNCConfiguration]{
		Base: b, Keep: func(c, stored *hnc.HNCConfiguration) { c.Spec = stored.Spec },
	}), rules: rules}
	// Whoever has changed the rules finds them in force.
	store.AfterCreate = func(obj runtime.Object, options *metav1.CreateOptions) { storage.applyStored(obj, options.DryRun) }
	store.AfterUpdate = func(obj runtime.Object, options *metav1.UpdateOptions) { storage.applyStored(obj, options.DryRun) }
	return storage, nil
}

func (s *Storage) applyStored(obj runtime.Object, dryRun []string) {
	if len(dryRun) == 0 {
		s.apply(context.Background(), obj.(*hnc.HNCConfiguration))
	}
}

// SubnamespaceNames returns the stored rule for the names of new sub-namespaces, nil if there is none.
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

var errDelete = errors.New("there is always one configuration; empty its spec.resources instead")

// Delete rejects the deletion of the configuration. No other names exist (docs/spec/hnc.md 2.6, K1 and K2).
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if name != hnc.ConfigurationName {
		return r.Store.Delete(ctx, name, validate, options)
	}
	return nil, false, apierrors.NewForbidden(r.DefaultQualifiedResource, name, errDelete)
}

// DeleteCollection rejects the deletion of the configuration.
func (r *REST) DeleteCollection(context.Context, rest.ValidateObjectFunc, *metav1.DeleteOptions, *metainternalversion.ListOptions) (runtime.Object, error) {
	return nil, apierrors.NewForbidden(r.DefaultQualifiedResource, "", errDelete)
}
