package cli

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

// Environment is what every command works with: the streams, and the cluster that the kubeconfig flags name.
type Environment struct {
	genericiooptions.IOStreams
	flags *genericclioptions.ConfigFlags
}

func newEnvironment(streams genericiooptions.IOStreams) *Environment {
	return &Environment{IOStreams: streams, flags: genericclioptions.NewConfigFlags(true).WithDiscoveryQPS(-1)}
}

// cluster is one cluster's clients.
type cluster struct {
	config     *rest.Config
	kube       kubernetes.Interface
	hierarchy  versioned.Interface
	namespaces metadata.Getter
	metadata   metadata.Interface
	dynamic    dynamic.Interface
}

// connect returns the clients. It does not talk to the server.
func (e *Environment) connect() (*cluster, error) {
	config, err := e.flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	// The server's priority and fairness says how fast is too fast.
	config.QPS = -1
	config.WarningHandler = rest.NewWarningWriter(e.ErrOut, rest.WarningWriterOptions{Deduplicate: true, Color: e.colours(e.ErrOut)})
	c := &cluster{config: config}
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

// mapper knows the cluster's resources.
func (e *Environment) mapper() (meta.RESTMapper, error) { return e.flags.ToRESTMapper() }

// namespace returns the namespace of -n, or else that of the kubeconfig's context.
func (e *Environment) namespace() (string, error) {
	ns, _, err := e.flags.ToRawKubeConfigLoader().Namespace()
	return ns, err
}
