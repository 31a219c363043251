package gateway

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	informers "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/informers/externalversions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
)

// Config configures a Gateway.
type Config struct {
	// Limits are those of each view.
	Limits Limits
	// Metrics count the requests of all views. Nil means that nothing counts them.
	Metrics *Metrics
	// Harmless are the keys of extra values that may be left out of identities.
	Harmless sets.Set[string]
}

// Gateway serves the views of a cluster.
type Gateway struct {
	Config
	*Views

	// Stop ends watches and other streams, so that clients continue them by another replica.
	Stop         context.CancelFunc
	prerequisite *Prerequisite
	connection   *view.Connection
	informers    []cache.SharedIndexInformer
	synced       []cache.InformerSynced
}

// New returns a Gateway that reaches kube-apiserver by a configuration. It serves nothing until it runs.
func New(config *rest.Config, c Config) (*Gateway, error) {
	g := &Gateway{Config: c}
	var err error
	if g.prerequisite, err = NewPrerequisite(config); err != nil {
		return nil, err
	}
	connection, server, err := view.Connect(config)
	if err != nil {
		return nil, err
	}
	clientconfig.BoundBuffers(connection.Transport)
	g.connection = connection
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	hierarchies, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	tree := NewTree(objects.Resource(namespaces))
	var stopping context.Context
	stopping, g.Stop = context.WithCancel(context.Background())
	g.Views = &Views{
		Stopping: stopping,
		Tree:     tree, Kinds: view.NewKinds(discovery.ToDiscoveryInterfaceWithContext(kinds)), Server: server, Caller: g.caller,
		Limits: c.Limits, Metrics: c.Metrics, Usable: g.usable,
	}
	if err := g.follow(metadatainformer.NewFilteredMetadataInformer(objects, namespaces, metav1.NamespaceAll, 0, nil, nil).Informer(), tree.Handler(), Trim); err != nil {
		return nil, err
	}
	views := informers.NewSharedInformerFactory(hierarchies, 0).Hnc().V1alpha3().TenantViews().Informer()
	return g, g.follow(views, g.Handler(), nil)
}

var namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")

func (g *Gateway) follow(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler, trim cache.TransformFunc) error {
	if err := informer.SetTransform(trim); err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return err
	}
	g.informers, g.synced = append(g.informers, informer), append(g.synced, registration.HasSynced)
	return nil
}

// Run follows what the gateway serves until the context is done.
func (g *Gateway) Run(ctx context.Context) {
	for _, informer := range g.informers {
		go informer.RunWithContext(ctx)
	}
	g.prerequisite.Run(ctx)
}

// usable returns why nothing can be served, nil if it can.
func (g *Gateway) usable() error {
	for _, synced := range g.synced {
		if !synced() {
			return errors.New("hns-gateway does not know the namespaces and TenantViews of the cluster yet")
		}
	}
	return g.prerequisite.Err()
}

// caller returns the connection with which the gateway acts as the user who has sent a request.
func (g *Gateway) caller(r *http.Request) (*view.Connection, error) {
	user, ok := request.UserFrom(r.Context())
	if !ok {
		return nil, apierrors.NewUnauthorized("views are not for anonymous users")
	}
	identity, err := impersonation(user, g.Harmless)
	if err != nil {
		return nil, apierrors.NewForbidden(tenantViews, "view", err)
	}
	return g.connection.As(*identity), nil
}
