package subtree

import (
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	clientdiscovery "k8s.io/client-go/discovery"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// Config is the configuration of the group.
type Config struct {
	// Tree is the index of the trees.
	Tree Tree
	// Namespaces is the informer for namespaces.
	Namespaces coreinformers.NamespaceInformer
	// Authorizer authorizes the caller's requests in the cluster.
	Authorizer authorizer.Authorizer
	// Client is the server's own connection to kube-apiserver.
	Client *restclient.Config
	// Serializer encodes errors and discovery documents.
	Serializer runtime.NegotiatedSerializer
	// LastChange tells how long decisions about watches hold.
	LastChange LastChange
	// AllowCacheTTL is for how long the authorizer caches allowed decisions.
	AllowCacheTTL time.Duration
	// Watches limits the number of concurrent watches.
	Watches inflight.Limits
	// UpstreamWatches limits the number of concurrent watches of kube-apiserver, which these share.
	UpstreamWatches int
}

// retryAfter is the Retry-After, in seconds, of requests over the watch limit.
const retryAfter = 5

// lists limits the number of concurrent lists. Each makes up to maxParallel requests at the same time.
var lists = inflight.Limits{Total: 50, PerUser: 10}

const prefix = "/apis/" + groupName

// Install adds the group to a server.
func (c Config) Install(server *genericapiserver.GenericAPIServer) error {
	up, err := newUpstream(c.Client)
	if err != nil {
		return err
	}
	discoveryClient, err := clientdiscovery.NewDiscoveryClientForConfig(c.Client)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfig(c.Client)
	if err != nil {
		return err
	}
	informers := metadatainformer.NewSharedInformerFactory(metadataClient, 0)
	services := informers.ForResource(hnc.APIServiceResource)
	known := &kinds{client: discoveryClient}
	known.changed = func() { server.AggregatedDiscoveryGroupManager.AddGroupVersion(groupName, known.aggregated()) }
	h := &handler{
		kinds: known, members: newMembers(c.Tree), upstream: up, mux: newWatchMux(up, c.UpstreamWatches), memory: newMemory(maxListMemory, maxListsMemory), continued: newSlots(), authorizer: c.Authorizer, lastChange: c.LastChange, cached: c.AllowCacheTTL, serializer: c.Serializer,
		limits: map[string]*inflight.Limiter{
			"list":  inflight.New("lists across subtrees", lists, 1),
			"watch": inflight.New("watches across subtrees", c.Watches, retryAfter),
		},
		labeledAt:      up.labeledNamespaces,
		otherRevisions: func(gvr schema.GroupVersionResource) bool { return otherRevisions(services.Lister(), gvr) },
		stillLabeled: func(root, name string) bool {
			namespace, err := c.Namespaces.Lister().Get(name)
			return err == nil && hnc.IsBelow(namespace.Labels, hnc.AbstractAncestors(namespace.Annotations), root)
		},
	}
	namespaces, err := namespaceEvents(c.Namespaces.Informer())
	if err != nil {
		return err
	}
	if err := server.AddReadyzChecks(healthz.NamedCheck("kinds", func(r *http.Request) error {
		if !services.Informer().HasSynced() {
			return errors.New("the APIServices are not known yet")
		}
		return known.ready(r)
	})); err != nil {
		return err
	}
	server.AddPostStartHookOrDie("kinds", func(hook genericapiserver.PostStartHookContext) error {
		changes, err := watchDefinitions(hook, informers)
		if err != nil {
			return err
		}
		go known.run(hook, changes)
		return nil
	})
	server.AddPostStartHookOrDie("subtrees", func(hook genericapiserver.PostStartHookContext) error {
		go h.members.run(hook, namespaces)
		return nil
	})
	server.DiscoveryGroupManager.AddGroup(group())
	mux := server.Handler.NonGoRestfulMux
	mux.Handle(prefix, discovery.NewAPIGroupHandler(c.Serializer, group()))
	mux.Handle(prefix+"/"+groupVersion.Version, discovery.NewAPIVersionHandler(c.Serializer, groupVersion, known))
	mux.HandlePrefix(prefix+"/"+groupVersion.Version+"/", h)
	return nil
}
