package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// Factory creates clients for the cluster that the kubeconfig flags select.
type Factory struct {
	Flags *genericclioptions.ConfigFlags
	// warnings receives the warnings of API servers.
	warnings  io.Writer
	discovery *rediscovery
}

// rediscovery remembers when the cluster's resources were last discovered again, or else when the factory was created.
type rediscovery struct {
	mu sync.Mutex
	at time.Time
}

// discoveryPeriod is how often a command that lasts looks for a resource that it does not know.
const discoveryPeriod = time.Minute

// NewFactory returns a factory. Its clients write the warnings of API servers to warnings.
func NewFactory(warnings io.Writer) *Factory {
	return &Factory{Flags: genericclioptions.NewConfigFlags(true).WithDiscoveryQPS(-1), warnings: warnings, discovery: &rediscovery{at: time.Now()}}
}

// quiet returns a factory whose clients write no warnings.
func (f *Factory) quiet() *Factory {
	quiet := *f
	quiet.warnings = io.Discard
	return &quiet
}

// Clients are the clients of one cluster.
type Clients struct {
	Kube       kubernetes.Interface
	Hierarchy  versioned.Interface
	namespaces metadata.Getter
	metadata   metadata.Interface
	Dynamic    dynamic.Interface
}

// Clients returns the clients. It sends no request.
func (f *Factory) Clients() (*Clients, error) {
	config, err := f.Config()
	if err != nil {
		return nil, err
	}
	c := &Clients{}
	if c.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.Hierarchy, err = versioned.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	c.namespaces = c.metadata.Resource(NamespaceResource)
	c.Dynamic, err = deepjson.NewDynamic(config, nil)
	return c, err
}

// Config returns the configuration of requests to the cluster.
func (f *Factory) Config() (*rest.Config, error) {
	config, err := f.Flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	// The server's priority and fairness limits the rate of requests.
	config.QPS = -1
	config.WarningHandler = rest.NewWarningWriter(f.warnings, rest.WarningWriterOptions{Deduplicate: true, Color: AllowsColor(f.warnings)})
	return config, nil
}

// mapper returns the mapper for the cluster's resources.
func (f *Factory) mapper() (meta.RESTMapper, error) { return f.Flags.ToRESTMapper() }

// namespace returns the namespace of -n, or else that of the kubeconfig's context.
func (f *Factory) namespace() (string, error) {
	ns, _, err := f.Flags.ToRawKubeConfigLoader().Namespace()
	return ns, err
}

// serves reports whether the cluster serves a group and version.
func (f *Factory) serves(version schema.GroupVersion) bool {
	discovery, err := f.Flags.ToDiscoveryClient()
	if err != nil {
		return false
	}
	_, err = discovery.ServerResourcesForGroupVersion(version.String())
	return err == nil
}

// Mapping returns the namespaced resource with a plural, singular, short or kind's name, with or without its group.
func (f *Factory) Mapping(name string) (*meta.RESTMapping, error) {
	mapper, err := f.mapper()
	if err != nil {
		return nil, err
	}
	mapping, err := mappingOf(mapper, name)
	if meta.IsNoMatchError(err) && f.discovery.due() {
		meta.MaybeResetRESTMapper(mapper)
		mapping, err = mappingOf(mapper, name)
	}
	if err != nil {
		return nil, unknownResource(name, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, fmt.Errorf("%s are not namespaced; name a namespaced resource", mapping.Resource.GroupResource())
	}
	return mapping, nil
}

func mappingOf(mapper meta.RESTMapper, name string) (*meta.RESTMapping, error) {
	versioned, group := schema.ParseResourceArg(name)
	var found schema.GroupVersionResource
	var err error
	if versioned != nil {
		found, err = kinds.OfCluster(mapper, *versioned)
	}
	if versioned == nil || err != nil {
		found, err = kinds.OfCluster(mapper, group.WithVersion(""))
	}
	if err != nil {
		return nil, err
	}
	kind, err := mapper.KindFor(found)
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

// due reports whether it is time to discover the cluster's resources again.
func (d *rediscovery) due() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.at) < discoveryPeriod {
		return false
	}
	d.at = time.Now()
	return true
}

func unknownResource(name string, err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("the cluster has no resource %q; kubectl api-resources lists those that it has", name)
	}
	return err
}
