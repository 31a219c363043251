package apiserver

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchyplan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/subtree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// Server is the aggregated API server.
type Server struct {
	*genericapiserver.GenericAPIServer
}

// New returns a server of all versions of the hierarchy API, and of reads across subtrees.
func (c CompletedConfig) New() (*Server, error) {
	fence.RegisterMetrics()
	treerules.RegisterMetrics()
	namespaces, err := c.namespaces()
	if err != nil {
		return nil, err
	}
	clients, err := newClients(c.client)
	if err != nil {
		return nil, err
	}
	*c.readOnly = readOnly{namespaces.Lister(), clients.kubernetes, clients.metadata}
	generic, err := c.generic.New(hnc.APIServerName, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	etcd, err := fence.NewClient(c.storage)
	if err != nil {
		return nil, err
	}
	generic.RegisterDestroyFunc(func() { _ = etcd.Close() })
	etcd.OnRestored(func(err error) {
		klog.ErrorS(err, "Restarting, to read everything again")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	})
	mapper := kinds.NewMapper(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clients.kubernetes.Discovery())))
	sources := sourceindex.New(sourceindex.Config{
		Metadata: clients.metadata, Kubernetes: clients.kubernetes, Mapper: mapper,
		Rules: func() *copies.Rules { return &c.rules.Load().Copies },
	})
	var stores stores
	// Only requests call List and SubnamespaceNames, and the stores exist before any request.
	records := etcd.Records()
	quotas := &limits.Reader{Records: records, List: stores.listQuotas}
	c.quotaAdmission.in = stores.cachedQuotas
	edges := etcd.Edges()
	forest := treerules.New(treerules.Config{
		Edges:      edges,
		Namespaces: namespaces.Lister(),
		Client:     clients.kubernetes,
		Authorizer: c.reviews,
		Rules:      func() managedkeys.Rules { return c.rules.Load().Managed },
		Sources:    sources,
		Quotas:     quotas,
		Records:    records,
		Use:        c.quotaAdmission,

		IsAbstractAncestor: isAbstractAncestor(namespaces),
		SubnamespacesOf: func(parent string) ([]string, error) {
			return namespaces.Informer().GetIndexer().IndexKeys(bySubnamespaceOf, parent)
		},
		SubnamespaceNames: func(ctx context.Context) (*hnc.SubnamespaceNames, error) {
			return stores.configuration.SubnamespaceNames(ctx)
		},
		Names: func(ctx context.Context, namespace string) (*mapping.Names, error) {
			return stores.views.Names(ctx, namespace)
		},
		Rebuilding: isRebuilding(namespaces.Lister(), stores.configurationUID),
	})
	if err := generic.AddReadyzChecks(healthz.NamedCheck("tree", forest.Index.Ready)); err != nil {
		return nil, err
	}
	generic.AddPostStartHookOrDie("tree", func(hook genericapiserver.PostStartHookContext) error {
		go forest.Index.Run(hook)
		go edges.PruneMarks(hook)
		return nil
	})
	mynamespaces, err := c.mynamespaces(generic, namespaces.Informer())
	if err != nil {
		return nil, err
	}
	options := restOptions{c.generic.RESTOptionsGetter, etcd.Decorator()}
	if stores, err = c.stores(options, forest, mapper); err != nil {
		return nil, err
	}
	c.lists.size, c.lists.root = stores.large.In, forest.Index.Root
	c.watchEvents.largest, c.watchEvents.root = stores.large.Largest, forest.Index.Root
	if err := c.quotas(generic, clients.kubernetes, namespaces, forest, records, quotas, sources); err != nil {
		return nil, err
	}
	generic.AddPostStartHookOrDie("sources", func(hook genericapiserver.PostStartHookContext) error {
		go sources.Run(hook, stores.configuration.Configuration, stores.hierarchies.Hierarchy)
		return nil
	})
	generic.AddPostStartHookOrDie("large-objects", func(hook genericapiserver.PostStartHookContext) error {
		stores.large.Run(hook)
		return nil
	})
	generic.AddPostStartHookOrDie("rules", func(hook genericapiserver.PostStartHookContext) error {
		stores.configuration.FollowRules(hook, sources.Relist)
		return nil
	})
	if err := generic.AddReadyzChecks(healthz.NamedCheck("rules", stores.configuration.Ready)); err != nil {
		return nil, err
	}
	planner := hierarchyplan.New(hierarchyplan.Config{
		Lister: clients.lister, Hierarchies: stores.hierarchies.Hierarchy,
		Subnamespaces: stores.subnamespaces.Subnamespace, Configuration: stores.configuration.Configuration, GetHierarchy: stores.hierarchyGetter(""),
		Tree: forest, Sources: sources, Resources: resourcespec.Validator{Mapper: mapper}, Authorizer: c.reviews, Rules: c.rules, Limits: c.Plans,
		TerminatingBelow: func(parent string) ([]string, error) {
			return namespaces.Informer().GetIndexer().IndexKeys(byTerminatingChild, parent)
		},
	})
	group := genericapiserver.NewDefaultAPIGroupInfo(hnc.GroupName, Scheme, metav1.ParameterCodec, Codecs)
	group.NegotiatedSerializer = served{Codecs}
	group.VersionedResourcesStorageMap = c.resources(stores, forest, mynamespaces, planner)
	if err := generic.InstallAPIGroup(&group); err != nil {
		return nil, fmt.Errorf("install %s: %w", hnc.GroupName, err)
	}
	subtrees := subtree.Config{
		Tree:            forest.Index,
		Namespaces:      namespaces,
		Authorizer:      c.reviews,
		LastChange:      mynamespaces.LastChange,
		AllowCacheTTL:   c.allowCacheTTL,
		Client:          c.client,
		Serializer:      served{Codecs},
		Watches:         c.Watches,
		UpstreamWatches: c.UpstreamWatches,
	}
	return &Server{generic}, subtrees.Install(generic)
}
