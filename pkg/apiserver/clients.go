package apiserver

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchyplan"
)

// clients are the clients of kube-apiserver.
type clients struct {
	// kubernetes reads built-in kinds.
	kubernetes kubernetes.Interface
	// metadata reads the metadata of propagated kinds.
	metadata metadata.Interface
	// lister lists objects for plans.
	lister *hierarchyplan.ObjectLister
}

func newClients(config *restclient.Config) (c clients, err error) {
	if c.kubernetes, err = kubernetes.NewForConfig(clientconfig.Protobuf(config)); err != nil {
		return c, fmt.Errorf("client for built-in kinds: %w", err)
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return c, fmt.Errorf("client for metadata: %w", err)
	}
	if c.lister, err = hierarchyplan.NewObjectLister(config); err != nil {
		return c, fmt.Errorf("client for lists: %w", err)
	}
	return c, nil
}
