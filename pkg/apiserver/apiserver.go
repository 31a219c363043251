// Package apiserver is the aggregated API server of the hierarchy API.
package apiserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchytree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/subnamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/subtree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/view"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Config is what a server is made of.
type Config struct {
	// Generic configures the generic API server.
	Generic *genericapiserver.RecommendedConfig
	// Storage says where and how objects are stored.
	Storage storagebackend.Config
	// SubnamespaceReady is how long the creation of a Subnamespace waits for its namespace at most.
	SubnamespaceReady time.Duration
	// Rules say which namespaces take part in hierarchies, and which of their labels and annotations are managed.
	Rules managed.Rules
}

type completedConfig struct {
	generic           genericapiserver.CompletedConfig
	client            *restclient.Config
	informers         informers.SharedInformerFactory
	storage           storagebackend.Config
	subnamespaceReady time.Duration
	rules             managed.Rules
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
	c.Generic.BuildHandlerChainFunc = clients.guard(withPostToItem(c.Generic.BuildHandlerChainFunc))
	c.Generic.Serializer = withoutProtobuf{Codecs}
	// Both names of a resource are the same to admission policies: one that holds for the one holds for the other.
	c.Generic.EquivalentResourceRegistry = runtime.NewEquivalentResourceRegistryWithIdentity(func(resource schema.GroupResource) string {
		return stored(resource).String()
	})
	return CompletedConfig{&completedConfig{
		client:            c.Generic.ClientConfig,
		informers:         c.Generic.SharedInformerFactory,
		generic:           c.Generic.Complete(),
		storage:           c.Storage,
		subnamespaceReady: c.SubnamespaceReady,
		rules:             c.Rules,
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
	namespaces := c.informers.Core().V1().Namespaces().Lister()
	config := restclient.CopyConfig(c.client)
	config.QPS = -1 // kube-apiserver's priority and fairness is the throttle
	client, err := kubernetes.NewForConfig(config)
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
	forest := tree.New(tree.Config{
		Edges:      etcd.Edges(),
		Namespaces: namespaces,
		Client:     client,
		Authorizer: c.generic.Authorization.Authorizer,
		Rules:      c.rules,
	})
	if err := generic.AddReadyzChecks(healthz.NamedCheck("tree", forest.Ready)); err != nil {
		return nil, err
	}
	generic.AddPostStartHookOrDie("tree", func(hook genericapiserver.PostStartHookContext) error {
		go forest.Run(hook)
		return nil
	})
	// Who misses a kind resets it, and looks again.
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	picture, err := c.picture(generic)
	if err != nil {
		return nil, err
	}
	resources, err := c.resources(etcd, forest, mapper, picture)
	if err != nil {
		return nil, err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(hnc.GroupName, Scheme, metav1.ParameterCodec, Codecs)
	group.NegotiatedSerializer = withoutProtobuf{Codecs}
	group.VersionedResourcesStorageMap = resources
	if err := generic.InstallAPIGroup(&group); err != nil {
		return nil, err
	}
	subtrees := subtree.Config{
		Tree:       forest,
		Namespaces: c.informers.Core().V1().Namespaces(),
		Authorizer: c.generic.Authorization.Authorizer,
		Client:     c.client,
		Serializer: withoutProtobuf{Codecs},
	}
	return &Server{generic}, subtrees.Install(generic)
}

// resources returns the storage of each version's resources: the same stores under each version's names.
func (c CompletedConfig) resources(etcd *fence.Client, t *tree.Tree, mapper meta.RESTMapper, picture *mynamespace.Picture) (map[string]map[string]rest.Storage, error) {
	options := fencedOptions{c.generic.RESTOptionsGetter, etcd.Decorator()}
	hierarchies, err := hierarchy.NewStorage(Scheme, options, t, mapper)
	if err != nil {
		return nil, fmt.Errorf("hierarchies: %w", err)
	}
	// At version "" it is the one that is stored, at "0" the one that is cached.
	at := func(version string) tree.Hierarchies {
		return func(ctx context.Context, namespace string) (*hnc.Hierarchy, error) {
			obj, err := hierarchies.Hierarchy.Get(genericapirequest.WithNamespace(ctx, namespace), hnc.Singleton, &metav1.GetOptions{ResourceVersion: version})
			if err != nil {
				return nil, err
			}
			return obj.(*hnc.Hierarchy), nil
		}
	}
	subnamespaces, err := subnamespace.NewStorage(Scheme, options, t, at(""), c.subnamespaceReady)
	if err != nil {
		return nil, fmt.Errorf("subnamespaces: %w", err)
	}
	configuration, err := configuration.NewStorage(Scheme, options, mapper, c.generic.Authorization.Authorizer)
	if err != nil {
		return nil, fmt.Errorf("hncconfigurations: %w", err)
	}
	configurations := view.Names{Kind: "HNCConfiguration", Singular: "hncconfiguration"}
	// The short name is in one version only: kubectl warns of a name that stands for two resources.
	all := map[string]map[string]rest.Storage{
		v1beta1.SchemeGroupVersion.Version: {
			"hierarchies":              &view.REST{Resource: hierarchies.Hierarchy, Names: view.Names{Kind: "Hierarchy", Singular: "hierarchy"}},
			"hierarchies/status":       hierarchies.Status.As("Hierarchy"),
			"hierarchies/tree":         hierarchytree.New(t, at("0")),
			"mynamespaces":             mynamespace.New(picture),
			"subnamespaces":            &view.REST{Resource: subnamespaces.Subnamespace, Names: view.Names{Kind: "Subnamespace", Singular: "subnamespace", Short: []string{"subns"}}},
			"subnamespaces/status":     subnamespaces.Status.As("Subnamespace"),
			"hncconfigurations":        &view.REST{Resource: configuration.Configuration, Names: configurations},
			"hncconfigurations/status": configuration.Status.As("HNCConfiguration"),
		},
		v1alpha2.SchemeGroupVersion.Version: {
			"hierarchyconfigurations":        &view.REST{Resource: hierarchies.Hierarchy, Names: view.Names{Kind: "HierarchyConfiguration", Singular: "hierarchyconfiguration"}},
			"hierarchyconfigurations/status": hierarchies.Status.As("HierarchyConfiguration"),
			"subnamespaceanchors":            &view.REST{Resource: subnamespaces.Subnamespace, Names: view.Names{Kind: "SubnamespaceAnchor", Singular: "subnamespaceanchor"}},
			"subnamespaceanchors/status":     subnamespaces.Status.As("SubnamespaceAnchor"),
			"hncconfigurations":              &view.REST{Resource: configuration.Configuration, Names: configurations},
			"hncconfigurations/status":       configuration.Status.As("HNCConfiguration"),
		},
	}
	for version, resources := range all {
		gv := schema.GroupVersion{Group: hnc.GroupName, Version: version}
		for resource := range resources {
			name, _, _ := strings.Cut(resource, "/")
			if !c.generic.MergedResourceConfig.ResourceEnabled(gv.WithResource(name)) {
				delete(resources, resource)
			}
		}
		if len(resources) == 0 {
			delete(all, version)
		}
	}
	return all, nil
}
