// Package apiserver is the aggregated API server of the hierarchy API.
package apiserver

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/informers"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchyplan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

// Config is the configuration of the server.
type Config struct {
	// Generic configures the generic API server.
	Generic *genericapiserver.RecommendedConfig
	// Reviews authorizes requesters in the cluster by SubjectAccessReviews.
	Reviews authorizer.Authorizer
	// Storage configures etcd.
	Storage storagebackend.Config
	// ReadyTimeout is how long writes of Subnamespaces and quotas wait until they have their effect.
	ReadyTimeout time.Duration
	// Waiting limits how many of them wait for more than a moment.
	Waiting inflight.Limits
	// OverwrittenTTL is how long the content of overwritten objects is stored; 0 stores none.
	OverwrittenTTL time.Duration
	// Plans limits the resources that plans use.
	Plans hierarchyplan.Limits
	// Watches limits the concurrent watches across subtrees.
	Watches inflight.Limits
	// UpstreamWatches limits the watches of kube-apiserver that these share.
	UpstreamWatches int
	// AllowCacheTTL is for how long reviews that allow something are cached.
	AllowCacheTTL time.Duration
}

type completedConfig struct {
	generic         genericapiserver.CompletedConfig
	reviews         authorizer.Authorizer
	client          *restclient.Config
	informers       informers.SharedInformerFactory
	storage         storagebackend.Config
	readyTimeout    time.Duration
	waiting         inflight.Limits
	overwrittenTTL  time.Duration
	rules           *inforce.Current
	plans           hierarchyplan.Limits
	watches         inflight.Limits
	upstreamWatches int
	allowCacheTTL   time.Duration
	quotaAdmission  *quotaAdmission
	lists           *lists
	readOnly        *readOnly
}

// CompletedConfig is a complete Config. Only Complete returns one.
type CompletedConfig struct{ *completedConfig }

// withTokens bounds how many requests wait for reviews of their tokens.
func withTokens(tokens *serving.Tokens, build handlerChain) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return tokens.Bounded(build(api, config))
	}
}

// Complete sets the filters and serializers of the generic server.
func (c *Config) Complete() CompletedConfig {
	// kube-apiserver only authenticates and authorizes proxied requests, so the filter chain of this server is
	// complete.
	ca := &clientCA{}
	if header := c.Generic.Authentication.RequestHeaderConfig; header != nil {
		ca.provider = header.CAContentProvider
	}
	c.Generic.AddReadyzChecks(healthz.NamedCheck("client-identification", ca.Check))
	quotas, beside, lists, serializer := &quotaAdmission{}, &readOnly{}, newLists(), withoutProtobuf{Codecs}
	c.Generic.Serializer = serializer
	c.Generic.JSONPatchMaxCopyBytes = maxCopied
	plugins := []admission.Interface{strategy.MetadataLimits{}}
	if c.Generic.AdmissionControl != nil {
		plugins = append(plugins, c.Generic.AdmissionControl)
	}
	c.Generic.AdmissionControl = admission.NewChainHandler(plugins...)
	tokens := serving.NewTokens()
	c.Generic.Authentication.Authenticator = tokens.Authenticator(c.Generic.Authentication.Authenticator)
	c.Generic.BuildHandlerChainFunc = withLongURLs(ca.withClientCA(withTokens(tokens, withPostToItem(withQuotaAdmission(
		withLists(withBodyLimit(withJSONPatches(withPathNames(withReadOnly(withHeaderLimit(withRejections(c.Generic.BuildHandlerChainFunc), serializer), beside, serializer), serializer), serializer), serializer), lists, serializer), quotas)))), serializer)
	// An admission policy for one name of a resource also applies to the other.
	c.Generic.EquivalentResourceRegistry = runtime.NewEquivalentResourceRegistryWithIdentity(func(resource schema.GroupResource) string {
		return storedResource(resource).String()
	})
	return CompletedConfig{&completedConfig{
		client:          c.Generic.ClientConfig,
		informers:       c.Generic.SharedInformerFactory,
		generic:         c.Generic.Complete(),
		reviews:         c.Reviews,
		storage:         c.Storage,
		readyTimeout:    c.ReadyTimeout,
		waiting:         c.Waiting,
		overwrittenTTL:  c.OverwrittenTTL,
		rules:           inforce.NewCurrent(),
		plans:           c.Plans,
		watches:         c.Watches,
		upstreamWatches: c.UpstreamWatches,
		allowCacheTTL:   c.AllowCacheTTL,
		quotaAdmission:  quotas,
		lists:           lists,
		readOnly:        beside,
	}}
}
