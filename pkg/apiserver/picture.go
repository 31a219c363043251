package apiserver

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace"
)

// picture returns the picture of who may see which namespaces, which is kept up to date from the first request for
// mynamespaces on. The server is ready without it: only these requests wait.
func (c CompletedConfig) picture(server *genericapiserver.GenericAPIServer, namespaces cache.SharedIndexInformer) (*mynamespace.Cache, error) {
	client, err := kubernetes.NewForConfig(InProtobuf(c.client))
	if err != nil {
		return nil, fmt.Errorf("client for roles and bindings: %w", err)
	}
	picture := mynamespace.NewCache()
	return picture, server.AddPostStartHook("mynamespaces", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if err := picture.Run(hook, namespaces, client); err != nil {
				klog.FromContext(hook).Error(err, "No mynamespaces are served")
			}
		}()
		return nil
	})
}
