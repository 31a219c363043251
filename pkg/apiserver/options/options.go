// Package options defines the flags of the API server and converts them into its configuration.
package options

import (
	"errors"
	"fmt"
	"net"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
	generatedopenapi "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/openapi"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchyplan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/embedded"
)

// Options are the flags of the API server.
type Options struct {
	// Server holds the flags of all API servers.
	Server *genericoptions.ServerRunOptions
	// Recommended holds the flags of aggregated API servers.
	Recommended *genericoptions.RecommendedOptions
	// Version is that of the executable, which the OpenAPI documents have.
	Version string
	// Enablement holds the served versions.
	Enablement *genericoptions.APIEnablementOptions
	// Logs configures logging.
	Logs *logs.Options
	// DataDir is the data directory of the embedded etcd.
	DataDir string
	// DataQuota is the size in bytes at which the embedded etcd accepts no more writes.
	DataQuota int64
	apiserver.ExtraConfig
	// ReviewForwarded reviews requests that kube-apiserver has authorized and forwarded.
	ReviewForwarded bool
}

// minDataQuota is the smallest quota of the embedded etcd: at least what its file has when it is empty, and some
// objects.
const minDataQuota int64 = 16 << 20

// history is the interval at which etcd is compacted by default, and the least time for which it keeps what was replaced.
// What a few trees may write in twice that time fits in the quota that the manifests give the embedded etcd.
const history = time.Minute

// defaultEtcdPrefix is the prefix of all keys in etcd.
const defaultEtcdPrefix = "/registry/hnc.x-k8s.io"

// New returns the defaults.
func New() *Options {
	reduceWatchCache(utilfeature.DefaultMutableFeatureGate)
	o := &Options{
		Server:      genericoptions.NewServerRunOptions(),
		Recommended: genericoptions.NewRecommendedOptions(defaultEtcdPrefix, apiserver.StorageCodec),
		Enablement:  genericoptions.NewAPIEnablementOptions(),
		Logs:        logs.NewOptions(),
		DataQuota:   embedded.DefaultQuota,
		ExtraConfig: apiserver.ExtraConfig{
			ReadyTimeout:    10 * time.Second,
			OverwrittenTTL:  7 * 24 * time.Hour,
			Plans:           hierarchyplan.Limits{Concurrent: inflight.Limits{Total: 4, PerUser: 2}, Memory: 64 << 20},
			Watches:         inflight.Limits{Total: 4000, PerUser: 400},
			UpstreamWatches: 500,
			Waiting:         inflight.Limits{Total: 100, PerUser: 20},
		},
	}
	o.Recommended.Etcd.StorageConfig.CompactionInterval = history
	o.Recommended.Etcd.StorageConfig.EncodeVersioner = apiserver.StorageVersions
	// A permission that was just granted takes effect soon, even after a rejected request.
	o.Recommended.Authorization.DenyCacheTTL = time.Second
	o.Recommended.SecureServing.BindPort = 6443
	// As in the other servers.
	o.Recommended.Features.EnableProfiling = false
	// A replica that stops drains its requests and ends its watches one by one.
	o.Server.ShutdownWatchTerminationGracePeriod = 5 * time.Second
	return o
}

// Flags returns the flags, in named sections.
func (o *Options) Flags() cliflag.NamedFlagSets {
	sections := cliflag.NamedFlagSets{}
	hierarchy := sections.FlagSet("hierarchy")
	hierarchy.StringVar(&o.DataDir, "data-dir", o.DataDir,
		"Data directory of a built-in single-member etcd, which replaces --etcd-servers and supports one replica only.")
	hierarchy.Int64Var(&o.DataQuota, "embedded-etcd-quota-bytes", o.DataQuota,
		"Size of the database of the built-in etcd at which it accepts no more writes. It is compacted and defragmented by itself.")
	hierarchy.DurationVar(&o.ReadyTimeout, "ready-timeout", o.ReadyTimeout,
		"Maximum time that the creation of a sub-namespace waits until the namespace can be used, with everything that it inherits, and that a write of a "+
			"hierarchical quota waits until its limits are in force. 0 disables waiting.")
	hierarchy.IntVar(&o.Waiting.Total, "max-waiting-requests", o.Waiting.Total,
		"Maximum number of requests that wait for more than a second, see --ready-timeout. Further ones return with a warning.")
	hierarchy.IntVar(&o.Waiting.PerUser, "max-waiting-requests-per-user", o.Waiting.PerUser,
		"Maximum number of requests of one user that wait for more than a second.")
	hierarchy.IntVar(&o.Plans.Concurrent.Total, "max-concurrent-plans", o.Plans.Concurrent.Total,
		"Maximum number of concurrent plans (hierarchies/plan, and dry runs). Further requests get 429 and Retry-After.")
	hierarchy.IntVar(&o.Plans.Concurrent.PerUser, "max-concurrent-plans-per-user", o.Plans.Concurrent.PerUser,
		"Maximum number of concurrent plans of one user.")
	hierarchy.DurationVar(&o.OverwrittenTTL, "overwritten-object-ttl", o.OverwrittenTTL,
		"How long the content of overwritten objects is stored. 0 stores none.")
	hierarchy.IntVar(&o.Watches.Total, "max-subtree-watches", o.Watches.Total,
		"Maximum number of concurrent watches across subtrees. Further ones get 429 and Retry-After.")
	hierarchy.IntVar(&o.Watches.PerUser, "max-subtree-watches-per-user", o.Watches.PerUser,
		"Maximum number of concurrent watches across subtrees of one user. Some clients have one for each kind of the cluster.")
	hierarchy.IntVar(&o.UpstreamWatches, "max-subtree-upstream-watches", o.UpstreamWatches,
		"Maximum number of different kinds, versions, forms and selectors of these watches. Each is one watch of kube-apiserver. Further ones get 429 and Retry-After.")
	o.Server.AddUniversalFlags(sections.FlagSet("server"))
	o.Enablement.AddFlags(sections.FlagSet("api enablement"))
	o.Recommended.Etcd.AddFlags(sections.FlagSet("etcd"))
	o.Recommended.SecureServing.AddFlags(sections.FlagSet("secure serving"))
	o.Recommended.Authentication.AddFlags(sections.FlagSet("authentication"))
	o.Recommended.Authorization.AddFlags(sections.FlagSet("authorization"))
	sections.FlagSet("authorization").BoolVar(&o.ReviewForwarded, "review-forwarded-requests", o.ReviewForwarded,
		"Review requests that kube-apiserver has authorized and forwarded. Only useful if other front proxies, which may not authorize requests, "+
			"have client certificates of the request-header authority.")
	o.Recommended.Audit.AddFlags(sections.FlagSet("auditing"))
	o.Recommended.Admission.AddFlags(sections.FlagSet("admission"))
	o.Recommended.Features.AddFlags(sections.FlagSet("features"))
	o.Recommended.CoreAPI.AddFlags(sections.FlagSet("cluster"))
	o.Recommended.EgressSelector.AddFlags(sections.FlagSet("egress selector"))
	o.Recommended.Traces.AddFlags(sections.FlagSet("traces"))
	logsapi.AddFlags(o.Logs, sections.FlagSet("logs"))
	return sections
}

// EmbedsEtcd reports whether the server runs its own etcd.
func (o *Options) EmbedsEtcd() bool {
	return len(o.Recommended.Etcd.StorageConfig.Transport.ServerList) == 0
}

// UseEtcd makes the server use the etcd at an endpoint.
func (o *Options) UseEtcd(endpoint string) {
	o.Recommended.Etcd.StorageConfig.Transport.ServerList = []string{endpoint}
}

// Validate validates the flags. --data-dir replaces --etcd-servers.
func (o *Options) Validate() error {
	var errs []error
	if o.EmbedsEtcd() {
		if o.DataDir == "" {
			errs = append(errs, errors.New("one of --etcd-servers and --data-dir must be given"))
		}
		if o.DataQuota < minDataQuota {
			errs = append(errs, fmt.Errorf("--embedded-etcd-quota-bytes must be at least %d: %d", minDataQuota, o.DataQuota))
		}
	} else {
		errs = append(errs, o.Recommended.Etcd.Validate()...)
		if o.DataDir != "" {
			errs = append(errs, errors.New("only one of --etcd-servers and --data-dir can be given"))
		}
	}
	if o.ReadyTimeout < 0 {
		errs = append(errs, fmt.Errorf("--ready-timeout must not be negative: %s", o.ReadyTimeout))
	}
	if o.OverwrittenTTL != 0 && o.OverwrittenTTL < time.Minute {
		errs = append(errs, fmt.Errorf("--overwritten-object-ttl must be 0 or at least %s: %s", time.Minute, o.OverwrittenTTL))
	}
	if limit := o.Server.RequestTimeout; o.ReadyTimeout >= limit {
		errs = append(errs, fmt.Errorf("--ready-timeout (%s) must be less than --request-timeout (%s)", o.ReadyTimeout, limit))
	}
	if o.Plans.Concurrent.Total < 1 || o.Plans.Concurrent.PerUser < 1 {
		errs = append(errs, errors.New("--max-concurrent-plans and --max-concurrent-plans-per-user must be at least 1"))
	}
	if o.Waiting.Total < 1 || o.Waiting.PerUser < 1 {
		errs = append(errs, errors.New("--max-waiting-requests and --max-waiting-requests-per-user must be at least 1"))
	}
	if o.Watches.Total < 1 || o.Watches.PerUser < 1 || o.UpstreamWatches < 1 {
		errs = append(errs, errors.New("--max-subtree-watches, --max-subtree-watches-per-user and --max-subtree-upstream-watches must be at least 1"))
	}
	errs = append(errs, o.Server.Validate()...)
	errs = append(errs, o.Enablement.Validate(apiserver.Scheme)...)
	errs = append(errs, o.Recommended.SecureServing.Validate()...)
	errs = append(errs, o.Recommended.Authentication.Validate()...)
	errs = append(errs, o.Recommended.Authorization.Validate()...)
	errs = append(errs, o.Recommended.Audit.Validate()...)
	errs = append(errs, o.Recommended.Admission.Validate()...)
	errs = append(errs, o.Recommended.Features.Validate()...)
	errs = append(errs, o.Recommended.CoreAPI.Validate()...)
	errs = append(errs, o.Recommended.EgressSelector.Validate()...)
	errs = append(errs, o.Recommended.Traces.Validate()...)
	return utilerrors.NewAggregate(errs)
}

// Config returns the configuration for the flags. It needs a reachable etcd.
func (o *Options) Config() (*apiserver.Config, error) {
	if err := o.Recommended.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, fmt.Errorf("self-signed certificate: %w", err)
	}
	generic := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	namer := openapi.NewDefinitionNamer(apiserver.Scheme)
	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(generatedopenapi.GetOpenAPIDefinitions, namer)
	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(generatedopenapi.GetOpenAPIDefinitions, namer)
	generic.OpenAPIConfig.Info.Title, generic.OpenAPIConfig.Info.Version = hnc.APIServerName, o.Version
	generic.OpenAPIV3Config.Info.Title, generic.OpenAPIV3Config.Info.Version = hnc.APIServerName, o.Version
	if err := o.Server.ApplyTo(&generic.Config); err != nil {
		return nil, err
	}
	if err := o.Enablement.ApplyTo(&generic.Config, served(), apiserver.Scheme); err != nil {
		return nil, err
	}
	reviews, err := o.applyRecommended(generic)
	if err != nil {
		return nil, err
	}
	return &apiserver.Config{
		Generic:       generic,
		Reviews:       reviews,
		Storage:       o.Recommended.Etcd.StorageConfig,
		ExtraConfig:   o.ExtraConfig,
		AllowCacheTTL: o.Recommended.Authorization.AllowCacheTTL,
	}, nil
}

// served returns the served versions; --runtime-config overrides them.
func served() *serverstorage.ResourceConfig {
	versions := serverstorage.NewResourceConfig()
	versions.EnableVersions(v1beta1.SchemeGroupVersion, v1alpha3.SchemeGroupVersion, v1alpha2.SchemeGroupVersion)
	return versions
}
