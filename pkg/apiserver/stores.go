package apiserver

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/copyrelease"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchicalresourcequota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hncconfiguration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/largeobjects"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/overwrittenobject"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/repositorysync"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/subnamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tenantview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/viewdefinition"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/waitready"
)

// freeWait is how long each request may wait until what it has written has its effect.
const freeWait = time.Second

// stores are the stores of all resources in etcd.
type stores struct {
	hierarchies   *hierarchy.Storage
	subnamespaces *subnamespace.Storage
	configuration *hncconfiguration.Storage
	overwritten   *overwrittenobject.REST
	releases      *copyrelease.Storage
	quotas        *hierarchicalresourcequota.Storage
	syncs         *repositorysync.Storage
	views         *tenantview.Storage
	definitions   *viewdefinition.Storage
	large         largeobjects.Followed
	// namespaces are those of the cluster.
	namespaces corelisters.NamespaceLister
}

func (c CompletedConfig) stores(options restOptions, t *treerules.Tree, mapper *kinds.Mapper) (s stores, err error) {
	s.namespaces = c.informers.Core().V1().Namespaces().Lister()
	waiter := waitready.Waiter{
		Timeout: c.ReadyTimeout, Free: freeWait, Slots: inflight.New("waiting requests", c.Waiting, int(freeWait.Seconds())), Stopped: s.whyStopped,
	}
	changes := changerates.NewChanges(c.reviews, "hierarchies", "hierarchies")
	if s.hierarchies, err = hierarchy.NewStorage(Scheme, options, t, mapper, changes, waiter, c.quotaAdmission.SettleMoved); err != nil {
		return s, fmt.Errorf("hierarchies: %w", err)
	}
	t.Authorizer.SetHierarchies(s.hierarchyGetter(""))
	t.Overwrites.SetHierarchies(s.hierarchyGetter("0"))
	if s.subnamespaces, err = subnamespace.NewStorage(Scheme, options, t, s.hierarchyGetter(""), changes, waiter); err != nil {
		return s, fmt.Errorf("subnamespaces: %w", err)
	}
	if s.configuration, err = hncconfiguration.NewStorage(Scheme, options, mapper, c.reviews, t, c.rules); err != nil {
		return s, fmt.Errorf("hncconfigurations: %w", err)
	}
	if s.quotas, err = hierarchicalresourcequota.NewStorage(Scheme, options, t, c.reviews, waiter, c.quotaAdmission.Settle); err != nil {
		return s, fmt.Errorf("hierarchicalresourcequotas: %w", err)
	}
	if s.releases, err = copyrelease.NewStorage(Scheme, options, t); err != nil {
		return s, fmt.Errorf("copyreleases: %w", err)
	}
	if s.overwritten, err = overwrittenobject.NewStorage(Scheme, options, c.reviews, t.Index.Root, c.OverwrittenTTL); err != nil {
		return s, fmt.Errorf("overwrittenobjects: %w", err)
	}
	if s.syncs, err = repositorysync.NewStorage(Scheme, options, c.reviews); err != nil {
		return s, fmt.Errorf("repositorysyncs: %w", err)
	}
	if s.views, err = tenantview.NewStorage(Scheme, options, c.reviews); err != nil {
		return s, fmt.Errorf("tenantviews: %w", err)
	}
	if s.definitions, err = viewdefinition.NewStorage(Scheme, options, c.reviews, t.Index.Root, s.views.CustomResources); err != nil {
		return s, fmt.Errorf("viewdefinitions: %w", err)
	}
	s.large = largeobjects.Limit(t.Index.Root, c.reviews, s.hierarchies.Hierarchy.Store.Store, s.subnamespaces.Subnamespace.Store.Store, s.quotas.Quota.Store.Store,
		s.configuration.Configuration.Store, s.releases.Release, s.syncs.Sync, s.views.View, s.definitions.Definition.Store)
	return s, nil
}

// hierarchyGetter returns a function that gets the hierarchy of a namespace: with resourceVersion "" the stored one,
// with "0" the cached one.
func (s stores) hierarchyGetter(resourceVersion string) treerules.HierarchyGetter {
	return func(ctx context.Context, namespace string) (*hnc.Hierarchy, error) {
		obj, err := s.hierarchies.Hierarchy.Get(genericapirequest.WithNamespace(ctx, namespace), hnc.Singleton, &metav1.GetOptions{ResourceVersion: resourceVersion})
		if err != nil {
			return nil, err
		}
		return obj.(*hnc.Hierarchy), nil
	}
}
