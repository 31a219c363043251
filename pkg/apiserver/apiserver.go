// Package apiserver is the aggregated API server of the hierarchy API.
package apiserver

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchyplan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sources"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/subtree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Config is what a server is made of.
type Config struct {
	// Generic configures the generic API server.
	Generic *genericapiserver.RecommendedConfig
	// Reviews says who may do what in the cluster, by asking kube-apiserver.
	Reviews authorizer.Authorizer
	// Storage says where and how objects are stored.
	Storage storagebackend.Config
	// SubnamespaceReady is how long the creation of a Subnamespace waits for its namespace at most.
	SubnamespaceReady time.Duration
	// OverwrittenTTL is how long the content of overwritten objects is kept; 0 keeps none.
	OverwrittenTTL time.Duration
	// Rules say which namespaces take part in hierarchies, and which of their labels and annotations are managed.
	Rules managed.Rules
	// Copies says what copies leave out and what is not copied.
	Copies copies.Rules
	// InForce are all these rules, as the status of the configuration reports them.
	InForce *hnc.Rules
	// Plans bounds what plans cost.
	Plans hierarchyplan.Limits
	// Watches is how many watches across subtrees there may be at the same time.
	Watches inflight.Limits
}

type completedConfig struct {
	generic           genericapiserver.CompletedConfig
	reviews           authorizer.Authorizer
	client            *restclient.Config
	informers         informers.SharedInformerFactory
	storage           storagebackend.Config
	subnamespaceReady time.Duration
	overwrittenTTL    time.Duration
	rules             managed.Rules
	copies            copies.Rules
	inForce           *hnc.Rules
	plans             hierarchyplan.Limits
	watches           inflight.Limits
}

// CompletedConfig is a Config that nothing is missing from. Only Complete makes one.
type CompletedConfig struct{ *completedConfig }

// Complete fills in what the configuration leaves open.
func (c *Config) Complete() CompletedConfig {
	// Proxied requests pass no filter of kube-apiserver but authentication and authorization, so ours is the chain.
	clients := &identification{}
	if header := c.Generic.Authentication.RequestHeaderConfig; header != nil {
		clients.authority = header.CAContentProvider
	}
	c.Generic.AddReadyzChecks(healthz.NamedCheck("client-identification", clients.Check))
	c.Generic.BuildHandlerChainFunc = clients.guard(withPostToItem(withPlanBodyLimit(c.Generic.BuildHandlerChainFunc, withoutProtobuf{Codecs})))
	c.Generic.Serializer = withoutProtobuf{Codecs}
	// Both names of a resource are the same to admission policies: one that holds for the one holds for the other.
	c.Generic.EquivalentResourceRegistry = runtime.NewEquivalentResourceRegistryWithIdentity(func(resource schema.GroupResource) string {
		return stored(resource).String()
	})
	return CompletedConfig{&completedConfig{
		client:            c.Generic.ClientConfig,
		informers:         c.Generic.SharedInformerFactory,
		generic:           c.Generic.Complete(),
		reviews:           c.Reviews,
		storage:           c.Storage,
		subnamespaceReady: c.SubnamespaceReady,
		overwrittenTTL:    c.OverwrittenTTL,
		rules:             c.Rules,
		inForce:           c.InForce,
		copies:            c.Copies,
		plans:             c.Plans,
		watches:           c.Watches,
	}}
}

// Server is the aggregated API server.
type Server struct {
	*genericapiserver.GenericAPIServer
}

// New returns a server that serves both versions of the hierarchy API once it runs.
func (c CompletedConfig) New() (*Server, error) {
	fence.RegisterMetrics()
	tree.RegisterMetrics()
	namespaces, err := c.namespaces()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(InProtobuf(c.client))
	if err != nil {
		return nil, fmt.Errorf("client for namespaces: %w", err)
	}
	generic, err := c.generic.New("hnc-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	etcd, err := fence.NewClient(c.storage)
	if err != nil {
		return nil, err
	}
	generic.RegisterDestroyFunc(func() { _ = etcd.Close() })
	reader, err := metadata.NewForConfig(c.client)
	if err != nil {
		return nil, fmt.Errorf("client for metadata: %w", err)
	}
	mapper := kinds.NewMapper(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())))
	known := sources.New(sources.Config{Metadata: reader, Mapper: mapper, Rules: c.copies})
	var stores stores
	forest := tree.New(tree.Config{
		Edges:      etcd.Edges(),
		Namespaces: namespaces.Lister(),
		Client:     client,
		Authorizer: c.reviews,
		Rules:      c.rules,
		Sources:    known,
		// It is called by requests, which come after the stores.
		SubnamespaceNames: func(ctx context.Context) (*hnc.SubnamespaceNames, error) {
			return stores.configuration.SubnamespaceNames(ctx)
		},
	})
	if err := generic.AddReadyzChecks(healthz.NamedCheck("tree", forest.Index.Ready)); err != nil {
		return nil, err
	}
	generic.AddPostStartHookOrDie("tree", func(hook genericapiserver.PostStartHookContext) error {
		go forest.Index.Run(hook)
		return nil
	})
	picture, err := c.picture(generic, namespaces.Informer())
	if err != nil {
		return nil, err
	}
	options := fencedOptions{c.generic.RESTOptionsGetter, etcd.Decorator()}
	if stores, err = c.stores(options, forest, mapper); err != nil {
		return nil, err
	}
	generic.AddPostStartHookOrDie("sources", func(hook genericapiserver.PostStartHookContext) error {
		go known.Run(hook, stores.configuration.Configuration, stores.hierarchies.Hierarchy)
		return nil
	})
	generic.AddPostStartHookOrDie("rules", func(hook genericapiserver.PostStartHookContext) error {
		go reportRules(hook, stores.configuration)
		return nil
	})
	objects, err := dynamic.NewForConfig(c.client)
	if err != nil {
		return nil, fmt.Errorf("client for objects: %w", err)
	}
	lists, err := hierarchyplan.NewObjectLister(c.client)
	if err != nil {
		return nil, fmt.Errorf("client for lists: %w", err)
	}
	planner := hierarchyplan.New(hierarchyplan.Config{
		Kubernetes: client, Dynamic: objects, Lister: lists, Hierarchies: stores.hierarchies.Hierarchy, Subnamespaces: stores.subnamespaces.Subnamespace,
		Configuration: stores.configuration.Configuration, GetHierarchy: stores.at(""), Tree: forest, Sources: known,
		Authorizer: c.reviews, Managed: c.rules, Rules: c.copies, Limits: c.plans,
	})
	group := genericapiserver.NewDefaultAPIGroupInfo(hnc.GroupName, Scheme, metav1.ParameterCodec, Codecs)
	group.NegotiatedSerializer = withoutProtobuf{Codecs}
	group.VersionedResourcesStorageMap = c.resources(stores, forest, picture, planner)
	if err := generic.InstallAPIGroup(&group); err != nil {
		return nil, err
	}
	subtrees := subtree.Config{
		Tree:       forest.Index,
		Namespaces: namespaces,
		Authorizer: c.reviews,
		Client:     c.client,
		Serializer: withoutProtobuf{Codecs},
		Watches:    c.watches,
	}
	return &Server{generic}, subtrees.Install(generic)
}
