package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	restclient "k8s.io/client-go/rest"
)

// InProtobuf returns the configuration of clients for Kubernetes' own kinds, which are cheaper to read and to write in protobuf.
func InProtobuf(config *restclient.Config) *restclient.Config {
	config = restclient.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	return config
}
