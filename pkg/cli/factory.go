package cli

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

// factory creates clients for the cluster that the kubeconfig flags select.
type factory struct {
	flags *genericclioptions.ConfigFlags
	// warnings receives the warnings of API servers.
	warnings io.Writer
}

func newFactory(warnings io.Writer) *factory {
	return &factory{flags: genericclioptions.NewConfigFlags(true).WithDiscoveryQPS(-1), warnings: warnings}
}

// clients are the clients of one cluster.
type clients struct {
	kube       kubernetes.Interface
	hierarchy  versioned.Interface
	namespaces metadata.Getter
	metadata   metadata.Interface
	dynamic    dynamic.Interface
}

// clients returns the clients. It sends no request.
func (f *factory) clients() (*clients, error) {
	config, err := f.config()
	if err != nil {
		return nil, err
	}
	c := &clients{}
	if c.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.hierarchy, err = versioned.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	c.namespaces = c.metadata.Resource(namespaceResource)
	c.dynamic, err = dynamic.NewForConfig(config)
	return c, err
}

// config returns the configuration of requests to the cluster.
func (f *factory) config() (*rest.Config, error) {
	config, err := f.flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	// The server's priority and fairness limits the rate of requests.
	config.QPS = -1
	config.WarningHandler = rest.NewWarningWriter(f.warnings, rest.WarningWriterOptions{Deduplicate: true, Color: allowsColor(f.warnings)})
	return config, nil
}

// mapper returns the mapper for the cluster's resources.
func (f *factory) mapper() (meta.RESTMapper, error) { return f.flags.ToRESTMapper() }

// namespace returns the namespace of -n, or else that of the kubeconfig's context.
func (f *factory) namespace() (string, error) {
	ns, _, err := f.flags.ToRawKubeConfigLoader().Namespace()
	return ns, err
}

// serves reports whether the cluster serves a group and version.
func (f *factory) serves(version schema.GroupVersion) bool {
	discovery, err := f.flags.ToDiscoveryClient()
	if err != nil {
		return false
	}
	_, err = discovery.ServerResourcesForGroupVersion(version.String())
	return err == nil
}

// mapping returns the namespaced resource with a plural, singular, short or kind's name, with or without its group.
func (f *factory) mapping(name string) (*meta.RESTMapping, error) {
	mapper, err := f.mapper()
	if err != nil {
		return nil, err
	}
	versioned, group := schema.ParseResourceArg(name)
	var found schema.GroupVersionResource
	if versioned != nil {
		found, err = mapper.ResourceFor(*versioned)
	}
	if versioned == nil || err != nil {
		found, err = mapper.ResourceFor(group.WithVersion(""))
	}
	if err != nil {
		return nil, unknownResource(name, err)
	}
	kind, err := mapper.KindFor(found)
	if err != nil {
		return nil, unknownResource(name, err)
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, unknownResource(name, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, fmt.Errorf("%s are not namespaced; name a namespaced resource", mapping.Resource.GroupResource())
	}
	return mapping, nil
}

func unknownResource(name string, err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("the cluster has no resource %q; kubectl api-resources lists those that it has", name)
	}
	return err
}
