package options

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

func (o *Options) restConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	config.UserAgent = hnc.PropagatorName
	clientconfig.SetDefaults(config)
	return config, nil
}

// ManagerConfig returns the configuration of a Manager with all clients set, which write only during the term unless it
// is nil. The function ends the recording of events.
func ManagerConfig(ctx context.Context, base *rest.Config, term *serving.Term) (propagator.Config, func(), error) {
	var config propagator.Config
	unlimited, err := rest.HTTPClientFor(base)
	if err != nil {
		return config, nil, err
	}
	transport := unlimited
	if term != nil {
		restricted, err := term.Restrict(base)
		if err != nil {
			return config, nil, err
		}
		if transport, err = rest.HTTPClientFor(restricted); err != nil {
			return config, nil, err
		}
	}
	kubernetesClient, err := kubernetes.NewForConfigAndClient(clientconfig.Protobuf(base), transport)
	if err != nil {
		return config, nil, err
	}
	// Our own group is served as JSON only.
	hierarchyClient, err := versioned.NewForConfigAndClient(base, transport)
	if err != nil {
		return config, nil, err
	}
	dynamicClient, err := deepjson.NewDynamic(base, transport)
	if err != nil {
		return config, nil, err
	}
	metadataClient, err := metadata.NewForConfigAndClient(base, transport)
	if err != nil {
		return config, nil, err
	}
	raw := rest.CopyConfig(base)
	raw.GroupVersion = &schema.GroupVersion{}
	raw.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	rawClient, err := rest.UnversionedRESTClientForConfigAndClient(raw, transport)
	if err != nil {
		return config, nil, err
	}
	if config.Reader, err = client.NewReader(base, transport); err != nil {
		return config, nil, err
	}

	// The last events are recorded after the lease is released. Nothing follows from an event.
	eventsClient, err := kubernetes.NewForConfigAndClient(clientconfig.Protobuf(base), unlimited)
	if err != nil {
		return config, nil, err
	}
	config.Kubernetes = kubernetesClient
	config.Hierarchy = hierarchyClient
	config.Dynamic = dynamicClient
	config.Metadata = metadataClient
	config.Discover = func(ctx context.Context) (configuration.Cluster, error) {
		return discover(ctx, kubernetesClient.Discovery())
	}
	config.Copies = client.New(rawClient)
	// Users find our events by this component (docs/spec/hnc.md 4.1).
	var shutdown func()
	config.Events, shutdown = serving.RecordEvents(ctx, eventsClient, scheme.Scheme, hnc.GroupName)
	return config, shutdown, nil
}
