package apiserver

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace"
)

// mynamespaces returns the cache of the namespaces that each user may get. It is populated from the first request for
// mynamespaces on. The server is ready without it, because only these requests wait for it.
func (c CompletedConfig) mynamespaces(server *genericapiserver.GenericAPIServer, namespaces cache.SharedIndexInformer) (*mynamespace.Cache, error) {
	client, err := kubernetes.NewForConfig(clientconfig.Protobuf(c.client))
	if err != nil {
		return nil, fmt.Errorf("client for roles and bindings: %w", err)
	}
	cache := mynamespace.NewCache()
	return cache, server.AddPostStartHook("mynamespaces", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if err := cache.Run(hook, namespaces, client); err != nil {
				klog.FromContext(hook).Error(err, "Cannot serve mynamespaces")
			}
		}()
		return nil
	})
}
