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

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
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
	// AllowCacheTTL is for how long reviews that allow something are cached.
	AllowCacheTTL time.Duration
	ExtraConfig
}

// ExtraConfig holds the settings that are flags of this server only.
type ExtraConfig struct {
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
}

type completedConfig struct {
	ExtraConfig
	generic        genericapiserver.CompletedConfig
	reviews        authorizer.Authorizer
	client         *restclient.Config
	informers      informers.SharedInformerFactory
	storage        storagebackend.Config
	rules          *configrules.Current
	allowCacheTTL  time.Duration
	quotaAdmission *quotaAdmission
	lists          *lists
	watchEvents    *watchEvents
	readOnly       *readOnly
}

// CompletedConfig is a complete Config. Only Complete returns one.
type CompletedConfig struct{ *completedConfig }

// Complete sets the filters and serializers of the generic server.
func (c *Config) Complete() CompletedConfig {
	// kube-apiserver only authenticates and authorizes proxied requests, so the filter chain of this server is
	// complete.
	ca := &clientCA{}
	if header := c.Generic.Authentication.RequestHeaderConfig; header != nil {
		ca.provider = header.CAContentProvider
	}
	c.Generic.AddReadyzChecks(healthz.NamedCheck("client-identification", ca.Check))
	quotas, beside, lists, events := &quotaAdmission{}, &readOnly{}, newLists(), newWatchEvents()
	c.Generic.Serializer = served{Codecs}
	c.Generic.JSONPatchMaxCopyBytes = maxCopied
	plugins := []admission.Interface{strategy.MetadataLimits{}}
	if c.Generic.AdmissionControl != nil {
		plugins = append(plugins, c.Generic.AdmissionControl)
	}
	c.Generic.AdmissionControl = admission.NewChainHandler(plugins...)
	tokens := serving.NewTokens()
	c.Generic.Authentication.Authenticator = tokens.Authenticator(c.Generic.Authentication.Authenticator)
	build := c.Generic.BuildHandlerChainFunc
	c.Generic.BuildHandlerChainFunc = func(api http.Handler, config *genericapiserver.Config) http.Handler {
		api = chain(api, withRejections, rejecting(checkHeaders), rejecting(beside.check), rejecting(checkPath), withJSONPatches, rejecting(checkBody),
			lists.withLists, events.filter, quotas.withReviews)
		return chain(build(api, config), rejecting(checkURL), ca.withClientCA, tokens.Bounded, withPostToItem)
	}
	// An admission policy for one name of a resource also applies to the other.
	c.Generic.EquivalentResourceRegistry = runtime.NewEquivalentResourceRegistryWithIdentity(func(resource schema.GroupResource) string {
		return storedResource(resource).String()
	})
	return CompletedConfig{&completedConfig{
		ExtraConfig:    c.ExtraConfig,
		client:         c.Generic.ClientConfig,
		informers:      c.Generic.SharedInformerFactory,
		generic:        c.Generic.Complete(),
		reviews:        c.Reviews,
		storage:        c.Storage,
		rules:          configrules.NewCurrent(),
		allowCacheTTL:  c.AllowCacheTTL,
		quotaAdmission: quotas,
		lists:          lists,
		watchEvents:    events,
		readOnly:       beside,
	}}
}
